#include <simdjson.h>

#include <algorithm>

#include "traces/event_json.h"
#include "traces/fields.h"

namespace onelaunch::traces {
namespace {

namespace dom = simdjson::dom;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// "2026-12-01T05:09:06.123Z"
bool is_utc(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00.000Z";
  return text.size() == kShape.size() && std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           return shape == '0' ? c >= '0' && c <= '9' : c == shape;
         });
}

// Reads one event's fields from an object; remembers the first one that is missing or wrong.
class Reader {
 public:
  Reader(dom::object object, bool strict) : object_(object), strict_(strict) {}
  std::string problem;

  template <class T>
  void operator()(const char* name, T& value, const Rule& rule) {
    dom::element element;
    if (object_.at_key(name).get(element) != simdjson::SUCCESS) {
      if (rule.required) fail_at(name, "is missing");
      return;
    }
    take(name, element, value, rule);
  }

 private:
  void take(const char* name, dom::element element, std::string& value, const Rule& rule) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return fail_at(name, "is not a string");
    value = text;
    if (!strict_ || (value.empty() && !rule.required)) return;
    if (rule.form != Form::text && !is_sha256(text)) return fail_at(name, "is not a SHA-256");
    if (!rule.words.empty() && std::find(rule.words.begin(), rule.words.end(), text) == rule.words.end())
      fail_at(name, "cannot be \"" + value + "\"");
  }
  void take(const char* name, dom::element element, bool& value, const Rule&) {
    if (element.get(value) != simdjson::SUCCESS) fail_at(name, "is not true or false");
  }
  void take(const char* name, dom::element element, double& value, const Rule& rule) {
    if (element.get(value) != simdjson::SUCCESS) return fail_at(name, "is not a number");
    if (strict_ && value < 0 && !rule.negative) fail_at(name, "is negative");
  }
  void take(const char* name, dom::element element, std::uint64_t& value, const Rule&) {
    if (element.get(value) != simdjson::SUCCESS) fail_at(name, "is not a whole number from 0 to 2^64 - 1");
  }
  void take(const char* name, dom::element element, std::int64_t& value, const Rule&) {
    if (element.get(value) != simdjson::SUCCESS) return fail_at(name, "is not a 64-bit whole number");
    if (strict_ && value < 0) fail_at(name, "is negative");
  }
  void take(const char* name, dom::element element, int& value, const Rule&) {
    std::int64_t wide = 0;
    if (element.get(wide) != simdjson::SUCCESS || wide != static_cast<int>(wide))
      return fail_at(name, "is not a 32-bit whole number");
    value = static_cast<int>(wide);
    if (strict_ && value < 0) fail_at(name, "is negative");
  }
  template <class T>
  void take(const char* name, dom::element element, std::optional<T>& value, const Rule& rule) {
    take(name, element, value.emplace(), rule);
  }
  template <class T>
  void take(const char* name, dom::element element, std::map<std::string, T>& value, const Rule&) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return fail_at(name, "is not an object");
    for (const auto [key, item] : object) take(name, item, value[std::string(key)], kMust);
  }
  template <class T>
  void take(const char* name, dom::element element, std::vector<T>& value, const Rule&) {
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return fail_at(name, "is not an array");
    value.reserve(array.size());
    for (const dom::element item : array) take_item(name, item, value.emplace_back());
  }
  void take_item(const char* name, dom::element item, double& value) { take(name, item, value, kMust); }
  template <class T>
  void take_item(const char* name, dom::element item, T& value) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) return fail_at(name, "holds something that is not an object");
    Reader inner(object, strict_);
    fields(inner, value);
    if (!inner.problem.empty() && problem.empty()) problem = std::string(name) + ": " + inner.problem;
  }
  void fail_at(const char* name, const std::string& what) {
    if (problem.empty()) problem = std::string(name) + " " + what;
  }

  dom::object object_;
  bool strict_;
};

template <std::size_t I = 0>
bool read_event(std::string_view type, Reader& reader, Event& event) {
  if constexpr (I == std::variant_size_v<Event>) {
    return false;
  } else {
    using E = std::variant_alternative_t<I, Event>;
    if (type != E::type) return read_event<I + 1>(type, reader, event);
    fields(reader, event.emplace<I>());
    return true;
  }
}

}  // namespace

struct LineParser::State {
  dom::parser parser;
  Strictness strictness;
};

LineParser::LineParser(Strictness strictness) : state_(std::make_unique<State>()) { state_->strictness = strictness; }
LineParser::~LineParser() = default;

std::size_t LineParser::padding() { return simdjson::SIMDJSON_PADDING; }

Result<ParsedLine> LineParser::parse(std::string_view line) {
  dom::element root;
  if (const auto error = state_->parser.parse(line.data(), line.size(), false).get(root); error != simdjson::SUCCESS)
    return invalid(std::string("not JSON: ") + simdjson::error_message(error));
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS) return invalid("not a JSON object");

  Reader reader(object, state_->strictness == Strictness::strict);
  ParsedLine parsed;
  int version = 0;
  reader("v", version, kMust);
  if (reader.problem.empty() && version != kTraceVersion)
    return invalid("trace version " + std::to_string(version) + ", this build reads version " +
                   std::to_string(kTraceVersion));
  reader("seq", parsed.record.seq, kMust);
  reader("t", parsed.record.t, kMust);
  reader("ts", parsed.record.ts, kMust);
  reader("type", parsed.type, kMust);
  reader("prev", parsed.record.prev, Rule{.required = true, .form = Form::hash});
  if (!reader.problem.empty()) return invalid(reader.problem);
  if (state_->strictness == Strictness::strict && !is_utc(parsed.record.ts)) return invalid("ts is not a UTC time");
  parsed.known = read_event(parsed.type, reader, parsed.record.event);
  if (!reader.problem.empty()) return invalid(parsed.type + ": " + reader.problem);
  return parsed;
}

}  // namespace onelaunch::traces
