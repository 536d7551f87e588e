#include "traces/external.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "traces/html/assets.h"

namespace onelaunch::traces {
namespace {

using Json = nlohmann::json;
constexpr std::uintmax_t kFileBytesMax = std::uintmax_t{4} << 20;
constexpr const char* kFormat = "onelaunch.external/1";

// Takes an entry apart; the first thing that is wrong with it stays in `problem`.
class EntryReader {
 public:
  explicit EntryReader(const Json& json) : json_(json) {}

  std::string text(const char* name, bool must) {
    const Json* value = find(name, must);
    if (!value) return "";
    if (value->is_string() && (!must || !value->get_ref<const std::string&>().empty())) return value->get<std::string>();
    complain(std::string("`") + name + "` is no text");
    return "";
  }
  std::optional<double> number(const char* name) {
    const Json* value = find(name, false);
    if (!value) return std::nullopt;
    if (value->is_number() && std::isfinite(value->get<double>()) && value->get<double>() >= 0) return value->get<double>();
    complain(std::string("`") + name + "` is no number from 0 up");
    return std::nullopt;
  }
  template <class T>
  std::optional<T> count(const char* name) {
    const std::optional<double> value = number(name);
    if (!value) return std::nullopt;
    if (*value == std::floor(*value) && *value <= 2e9) return static_cast<T>(*value);
    complain(std::string("`") + name + "` is no count");
    return std::nullopt;
  }
  std::map<std::int64_t, double> by_context(const char* name) {
    std::map<std::int64_t, double> values;
    const Json* object = find(name, false);
    if (!object) return values;
    if (!object->is_object()) return complain(std::string("`") + name + "` is no object"), values;
    for (const auto& [key, value] : object->items()) {
      const bool digits = !key.empty() && key.size() < 12 && key.find_first_not_of("0123456789") == std::string::npos;
      if (digits && value.is_number()) values[std::stoll(key)] = value.get<double>();
      else complain(std::string("`") + name + "` maps contexts to numbers");
    }
    return values;
  }
  void only_known() {
    for (const auto& [key, value] : json_.items())
      if (!asked_.contains(key)) complain("`" + key + "` is no field of an entry");
  }
  const std::string& problem() const { return problem_; }

 private:
  const Json* find(const char* name, bool must) {
    asked_.insert(name);
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    if (must) complain(std::string("`") + name + "` is missing");
    return nullptr;
  }
  void complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  const Json& json_;
  std::set<std::string> asked_;
  std::string problem_;
};

Result<ExternalEntry> entry_of(const Json& json) {
  if (!json.is_object()) return invalid("it is no object");
  EntryReader read(json);
  ExternalEntry entry;
  entry.agent = read.text("agent", true);
  entry.task = read.text("task", true);
  entry.device = read.text("device", true);
  entry.citation = read.text("citation", true);
  entry.baseline = read.text("baseline", json.contains("over"));
  entry.url = read.text("url", false);
  entry.note = read.text("note", false);
  entry.us = read.number("us");
  entry.over = read.number("over");
  entry.over_by_context = read.by_context("over_by_context");
  entry.launches = read.count<int>("launches");
  entry.barriers = read.count<int>("barriers");
  entry.active_s = read.number("active_s");
  entry.cost_usd = read.number("cost_usd");
  entry.output_tokens = read.count<std::uint64_t>("output_tokens");
  read.only_known();
  if (!read.problem().empty()) return invalid(read.problem());
  if (!entry.us && !entry.over) return invalid("it has neither `us` nor `over`");
  if (!entry.url.empty() && !entry.url.starts_with("https://") && !entry.url.starts_with("http://"))
    return invalid("`url` is no web address");
  return entry;
}

}  // namespace

Result<std::vector<ExternalEntry>> parse_external(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid(file + ": not JSON");
  if (!json.is_object() || json.value("format", Json()) != kFormat)
    return invalid(file + ": its `format` is not " + kFormat);
  const auto list = json.find("entries");
  if (list == json.end() || !list->is_array()) return invalid(file + ": `entries` is no list");
  std::vector<ExternalEntry> entries;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Result<ExternalEntry> entry = entry_of((*list)[i]);
    if (!entry) return because(entry.error(), file + ": entry " + std::to_string(i + 1));
    entry->file = file;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::vector<ExternalEntry>> read_external(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::file_size(file, error) > kFileBytesMax || error)
    return invalid(file.string() + ": cannot be read, or is larger than 4 MiB");
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return invalid(file.string() + ": cannot be read");
  return parse_external(text.str(), file.string());
}

std::vector<ExternalEntry> shipped_external() {
  Result<std::vector<ExternalEntry>> entries = parse_external(std::string(shipped_external_file()), "shipped");
  if (!entries) return {};
  for (ExternalEntry& entry : *entries) entry.file.clear();
  return std::move(*entries);
}

}  // namespace onelaunch::traces
