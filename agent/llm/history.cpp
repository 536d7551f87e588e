#include "agent/llm/history.h"

#include <algorithm>

#include "agent/llm/event_json.h"
#include "agent/llm/json_text.h"
#include "base/check.h"

namespace onelaunch::llm {
namespace {

constexpr int kVersion = 1;
constexpr const char* kNotRun = "This call was not run.";

}  // namespace

void History::append(const std::string& elements) {
  if (!elements.empty()) elements_.push_back({elements, {}});
}

void History::keep(Turn& turn) {
  append(turn.kept);
  std::size_t number = 0;
  for (ToolCall& call : turn.calls) {
    const std::string wire_id = call.id;
    call.id = fresh_id(wire_id, number++);
    pending_.push_back({call.id, wire_id, call.name});
  }
  if (!turn.calls.empty() && !elements_.empty())
    for (const ToolCall& call : turn.calls) elements_.back().ids.push_back(call.id);
  ++turns_;
}

std::string History::fresh_id(const std::string& wanted, std::size_t number) {
  std::string id = wanted;
  for (std::size_t n = number; id.empty() || ids_.contains(id); ++n)
    id = "call_" + std::to_string(turns_) + "_" + std::to_string(n);
  ids_.insert(id);
  return id;
}

std::vector<Answered> History::settle(const std::vector<ToolOutput>& outputs) {
  std::vector<Answered> answers;
  std::size_t used = 0;
  for (const PendingCall& call : pending_) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const ToolOutput& output) { return output.call_id == call.id; });
    used += found != outputs.end();
    answers.push_back({call, found != outputs.end() ? *found : ToolOutput{call.id, kNotRun, true}});
  }
  OL_CHECK(used == outputs.size(), "a result for a call that nobody made");
  pending_.clear();
  return answers;
}

std::string History::text() const {
  std::string text;
  for (const Element& element : elements_) text.append(text.empty() ? "" : ",").append(element.text);
  return text;
}

std::string History::save() const {
  Json saved;
  saved["version"] = kVersion;
  saved["identity"] = identity_;
  Json& elements = saved["elements"] = Json::array();
  for (const Element& element : elements_) {
    elements.push_back(Json{{"text", element.text}});
    if (!element.ids.empty()) elements.back()["ids"] = element.ids;
  }
  Json& pending = saved["pending"] = Json::array();
  for (const PendingCall& call : pending_)
    pending.push_back(Json{{"id", call.id}, {"wire_id", call.wire_id}, {"name", call.name}});
  saved["turns"] = turns_;
  return printed(saved);
}

Result<void> History::restore(const std::string& saved) {
  OL_CHECK(empty(), "restoring into a conversation that has begun");
  const Json json = Json::parse(saved, nullptr, false);
  if (json.is_discarded() || count_at(json, "version") != kVersion) return invalid("this is no saved conversation");
  if (text_at(json, "identity") != identity_)
    return invalid("the conversation was held with another model, system prompt or tools");
  std::vector<Element> elements;
  std::set<std::string> ids;
  for (const Json& saved_element : at(json, "elements")) {
    Element element{text_at(saved_element, "text"), {}};
    if (element.text.empty() || !is_json("[" + element.text + "]")) return invalid("the saved conversation is damaged");
    for (const Json& id : at(saved_element, "ids"))
      if (id.is_string()) element.ids.push_back(id.get<std::string>());
    ids.insert(element.ids.begin(), element.ids.end());
    elements.push_back(std::move(element));
  }
  for (const Json& call : at(json, "pending"))
    pending_.push_back({text_at(call, "id"), text_at(call, "wire_id"), text_at(call, "name")});
  elements_ = std::move(elements);
  ids_ = std::move(ids);
  turns_ = static_cast<int>(count_at(json, "turns").value_or(0));
  return {};
}

}  // namespace onelaunch::llm
