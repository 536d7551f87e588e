#include <algorithm>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>

#include "traces/event_json.h"
#include "traces/fields.h"

namespace onelaunch::traces {
namespace {

using Json = nlohmann::ordered_json;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Adds one event's fields to an object; remembers the first rule that one of them breaks.
class Printer {
 public:
  Json json = Json::object();
  std::string problem;

  void operator()(const char* name, const std::string& value, const Rule& rule) {
    if (value.empty() && !rule.required) return;
    if (rule.form != Form::text && !is_sha256(value)) return fail_at(name, "is not a SHA-256: \"" + value + "\"");
    if (!rule.words.empty() && std::find(rule.words.begin(), rule.words.end(), value) == rule.words.end())
      return fail_at(name, "cannot be \"" + value + "\"");
    json[name] = value;
  }
  void operator()(const char* name, double value, const Rule& rule) {
    if (!std::isfinite(value)) return fail_at(name, "is not a finite number");
    if (value < 0 && !rule.negative) return fail_at(name, "is negative");
    json[name] = value;
  }
  template <std::integral T>
  void operator()(const char* name, T value, const Rule&) {
    if constexpr (std::is_signed_v<T>)
      if (value < 0) return fail_at(name, "is negative");
    json[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value, const Rule& rule) {
    if (value && std::isfinite(*value)) (*this)(name, *value, rule);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value, const Rule& rule) {
    if (value) (*this)(name, *value, rule);
  }
  template <class T>
  void operator()(const char* name, const std::map<std::string, T>& value, const Rule& rule) {
    if (value.empty() && !rule.required) return;
    Printer inner;
    for (const auto& [key, item] : value) inner(key.c_str(), item, kMust);
    adopt(name, inner);
    json[name] = std::move(inner.json);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value, const Rule& rule) {
    if (value.empty() && !rule.required) return;
    Json list = Json::array();
    for (const T& item : value) {
      Printer inner;
      if constexpr (std::is_arithmetic_v<T>) {
        inner("item", item, kMust);
        list.push_back(inner.json.value("item", Json()));
      } else {
        fields(inner, item);
        list.push_back(std::move(inner.json));
      }
      adopt(name, inner);
    }
    json[name] = std::move(list);
  }

 private:
  void fail_at(const std::string& name, const std::string& what) {
    if (problem.empty()) problem = name + " " + what;
  }
  void adopt(const char* name, const Printer& inner) {
    if (problem.empty() && !inner.problem.empty()) problem = std::string(name) + ": " + inner.problem;
  }
};

}  // namespace

const char* type_of(const Event& event) {
  return std::visit([](const auto& e) { return std::decay_t<decltype(e)>::type; }, event);
}

Result<std::string> print_record(const Record& record) {
  const std::string type = type_of(record.event);
  try {
    Printer printer;
    printer.json["v"] = kTraceVersion;
    printer.json["seq"] = record.seq;
    printer("t", record.t, kMust);
    printer("ts", record.ts, kMust);
    printer.json["type"] = type;
    std::visit([&](const auto& e) { fields(printer, e); }, record.event);
    printer("prev", record.prev, Rule{.required = true, .form = Form::hash});
    if (!printer.problem.empty()) return fail(Error::Kind::internal, "event " + type + ": " + printer.problem);
    return printer.json.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception& e) {
    return fail(Error::Kind::internal, "event " + type + ": " + e.what());
  }
}

}  // namespace onelaunch::traces
