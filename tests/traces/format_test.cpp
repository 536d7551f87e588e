// FORMAT.md, schema.json and fields.h list the same types and fields.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/traces/run_fixture.h"
#include "traces/event_json.h"
#include "traces/fields.h"

namespace onelaunch::traces {
namespace {

using nlohmann::json;

// name -> required
struct FieldNames {
  std::map<std::string, bool> names;
  template <class T>
  void operator()(const char* name, const T&, const Rule& rule) {
    names[name] = rule.required;
  }
};

template <class E>
std::map<std::string, bool> names_of() {
  FieldNames visitor;
  const E event{};
  fields(visitor, event);
  return visitor.names;
}

// Every event type, and the parts that fields hold, by their name in the schema.
std::map<std::string, std::map<std::string, bool>> all_fields() {
  std::map<std::string, std::map<std::string, bool>> all;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((all[std::variant_alternative_t<I, Event>::type] = names_of<std::variant_alternative_t<I, Event>>()), ...);
  }(std::make_index_sequence<std::variant_size_v<Event>>());
  all["context_time"] = names_of<ContextTime>();
  all["phase"] = names_of<Phase>();
  all["floor"] = names_of<Ceilings::Floor>();
  return all;
}

TEST(TraceFormat, SchemaAndCodeListTheSameFields) {
  const json schema = json::parse(content_of(ONELAUNCH_TRACES_DIR "/schema.json"));
  std::map<std::string, std::map<std::string, bool>> listed;
  for (const auto& [name, definition] : schema["definitions"].items()) {
    if (!definition.contains("properties")) continue;
    std::set<std::string> required;
    for (const json& field : definition["required"]) required.insert(field);
    for (const auto& [field, about] : definition["properties"].items()) listed[name][field] = required.contains(field);
  }
  EXPECT_EQ(listed, all_fields());
}

TEST(TraceFormat, SchemaSelectsTheDefinitionOfEveryType) {
  const json schema = json::parse(content_of(ONELAUNCH_TRACES_DIR "/schema.json"));
  std::set<std::string> types, selected;
  for (const json& type : schema["properties"]["type"]["enum"]) types.insert(type);
  for (const json& branch : schema["allOf"]) {
    const std::string type = branch["if"]["properties"]["type"]["const"];
    EXPECT_EQ(branch["then"]["$ref"], "#/definitions/" + type);
    selected.insert(type);
  }
  EXPECT_EQ(types.size(), std::variant_size_v<Event>);
  EXPECT_EQ(types, selected);
}

TEST(TraceFormat, PageDocumentsEveryField) {
  const std::string page = content_of(ONELAUNCH_TRACES_DIR "/FORMAT.md");
  for (const auto& [type, names] : all_fields()) {
    const std::size_t begin = page.find("### " + type + "\n");
    ASSERT_NE(begin, std::string::npos) << type;
    const std::string section = page.substr(begin, page.find("\n#", begin + 4) - begin);
    for (const auto& [name, required] : names)
      EXPECT_NE(section.find("| `" + name + "` |"), std::string::npos) << type << "." << name;
  }
}

}  // namespace
}  // namespace onelaunch::traces
