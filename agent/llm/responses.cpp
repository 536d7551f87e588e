// OpenAI's Responses API, nothing stored at the server: every item comes back with the next request.
#include <map>

#include "agent/llm/address.h"
#include "agent/llm/dialect.h"
#include "agent/llm/event_json.h"
#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

constexpr const char* kOwnHost = "https://api.openai.com";

// The older models take neither an effort nor a wish for encrypted reasoning.
bool reasons(const std::string& model) {
  for (const char* plain : {"gpt-3", "gpt-4", "chatgpt-4"})
    if (model.starts_with(plain)) return false;
  return true;
}

// Items of a turn as text, in their order, and what they are.
struct Item {
  std::string raw;
  Json json;
  std::string type() const { return text_at(json, "type"); }
};

class ResponsesReader final : public TurnReader {
 public:
  Appetite read(const SseEvent& event) override {
    if (event.data == "[DONE]") return appetite();
    const EventJson data = parsed(event.data);
    const std::string type = text_at(data.json, "type");
    if (data.json.is_discarded()) {
      spoil({Fault::Kind::transient, "an event is no JSON"});
    } else if (type == "response.output_item.done") {
      keep_item(count_at(data.json, "output_index").value_or(items_.size()), raw_member(data.text, "item"));
    } else if (type == "response.completed" || type == "response.incomplete") {
      take_response(at(data.json, "response"), raw_member(data.text, "response"));
    } else if (type == "response.failed") {
      take_failure(at(data.json, "response"), raw_member(data.text, "response"));
    } else if (type == "error" || (type.empty() && !at(data.json, "error").is_null())) {
      spoil(fault_of_event(data.text));
    } else if (text_at(data.json, "object") == "response") {
      take_response(data.json, data.text);  // from a server that does not stream
    }
    return appetite();
  }

  TurnResult finish() override {
    if (fault_) return tl::unexpected<Fault>(*fault_);
    if (!complete_) return tl::unexpected<Fault>({Fault::Kind::transient, "the stream ended before the reply did"});
    for (const auto& [index, item] : items_) read_item(item);
    if (turn_.ending == Ending::finished && !turn_.calls.empty()) turn_.ending = Ending::tool_calls;
    if (turn_.ending != Ending::tool_calls) turn_.calls.clear();
    std::vector<std::string> all;
    for (const auto& [index, item] : items_) all.push_back(item.raw);
    turn_.raw = "[" + joined(all) + "]";
    turn_.kept = kept(std::move(all));
    return std::move(turn_);
  }

 private:
  Appetite appetite() const { return fault_ ? Appetite::spoilt : complete_ ? Appetite::done : Appetite::more; }

  void spoil(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }

  void keep_item(std::uint64_t index, std::optional<std::string_view> raw) {
    if (!raw) return;
    Item item{std::string(*raw), Json::parse(raw->begin(), raw->end(), nullptr, false)};
    if (item.type().empty()) return spoil({Fault::Kind::malformed, "an item has no type"});
    items_[index] = std::move(item);
  }

  void take_response(const Json& response, std::optional<std::string_view> raw) {
    turn_.model = text_at(response, "model");
    if (text_at(response, "status") == "failed") return take_failure(response, raw);
    if (items_.empty() && raw)
      if (const auto output = raw_member(*raw, "output"))
        for (const std::string_view item : raw_elements(*output)) keep_item(items_.size(), item);
    const std::string reason = text_at(at(response, "incomplete_details"), "reason");
    if (reason == "content_filter") {
      turn_.ending = Ending::refused;
      turn_.detail = reason;
    } else if (!reason.empty()) {
      turn_.ending = Ending::cut_off;
    }
    take_usage(at(response, "usage"));
    complete_ = true;
  }

  void take_failure(const Json& response, std::optional<std::string_view> raw) {
    Fault fault = raw && at(response, "error").is_object() ? fault_of_event(*raw) : Fault{};
    if (fault.what.empty()) fault.what = "the provider failed and does not say why";
    spoil(std::move(fault));
  }

  void take_usage(const Json& usage) {
    Usage& sum = turn_.usage;
    std::uint64_t prompt = 0;
    take_count(usage, "input_tokens", prompt);
    take_count(at(usage, "input_tokens_details"), "cached_tokens", sum.cache_read);
    take_count(at(usage, "input_tokens_details"), "cache_write_tokens", sum.cache_write_5m);
    take_count(usage, "output_tokens", sum.output);
    take_count(at(usage, "output_tokens_details"), "reasoning_tokens", sum.reasoning);
    sum.input = prompt - std::min(prompt, sum.cache_read + sum.cache_write_5m);
    sum.known = count_at(usage, "output_tokens").has_value();
  }

  void read_item(const Item& item) {
    const std::string type = item.type();
    if (type == "function_call") {
      const std::string arguments = text_at(item.json, "arguments");
      turn_.calls.push_back(
          {text_at(item.json, "call_id"), text_at(item.json, "name"), arguments.empty() ? "{}" : arguments});
    } else if (type == "message") {
      for (const Json& part : at(item.json, "content")) {
        turn_.text += text_at(part, "text");
        if (text_at(part, "type") != "refusal") continue;
        turn_.ending = Ending::refused;
        turn_.detail = text_at(part, "refusal");
      }
    } else if (type == "reasoning") {
      for (const Json& part : at(item.json, "summary"))
        turn_.reasoning += (turn_.reasoning.empty() ? "" : "\n\n") + text_at(part, "text");
    }
  }

  // All items of a complete turn. Of one that was cut, what stands before its first call. Reasoning must be followed by
  // what it led to.
  std::string kept(std::vector<std::string> all) const {
    if (turn_.ending == Ending::refused) return "";
    std::size_t count = 0, whole = 0;
    for (const auto& [index, item] : items_) {
      if (turn_.ending == Ending::cut_off && item.type() != "reasoning" && item.type() != "message") break;
      ++count;
      if (item.type() != "reasoning") whole = count;
    }
    all.resize(whole);
    return joined(all);
  }

  std::map<std::uint64_t, Item> items_;
  Turn turn_;
  std::optional<Fault> fault_;
  bool complete_ = false;
};

class ResponsesDialect final : public Dialect {
 public:
  ResponsesDialect(const ModelName& model, const Credentials& credentials, const ChatOptions& options)
      : model_(model.model), credentials_(credentials), options_(options) {
    if (credentials_.base_url.empty()) credentials_.base_url = kOwnHost;
  }

  std::string url() const override { return api_url(credentials_.base_url, "/v1", "/responses"); }

  std::vector<std::string> headers() const override {
    std::vector<std::string> headers = {"content-type: application/json", "accept: text/event-stream"};
    if (!credentials_.key.empty()) headers.push_back("authorization: Bearer " + credentials_.key);
    return headers;
  }

  std::string head() const override {
    std::string body = R"({"model":)" + json_string(model_) + R"(,"stream":true,"store":false,"max_output_tokens":)" +
                       std::to_string(options_.max_output_tokens);
    if (reasons(model_)) {
      body += R"(,"include":["reasoning.encrypted_content"],"reasoning":{)";
      if (!options_.effort.empty()) body += R"("effort":)" + json_string(options_.effort) + ",";
      body += R"("summary":"auto"})";
    }
    if (!options_.cache_key.empty()) body += R"(,"prompt_cache_key":)" + json_string(options_.cache_key);
    if (!options_.system.empty()) body += R"(,"instructions":)" + json_string(options_.system);
    if (!options_.tools.empty()) body += R"(,"parallel_tool_calls":true,"tools":[)" + tools() + "]";
    return body + R"(,"input":[)";
  }

  std::string tail() const override { return "]}"; }

  std::string user_entry(const std::string& text) const override {
    return R"({"type":"message","role":"user","content":[{"type":"input_text","text":)" + json_string(text) + "}]}";
  }

  std::string answer_entries(const std::vector<Answered>& answers, const std::string& after) const override {
    std::vector<std::string> items;
    for (const Answered& answer : answers)
      items.push_back(R"({"type":"function_call_output","call_id":)" + json_string(answer.call.wire_id) +
                      R"(,"output":)" +
                      json_string(std::string(answer.output.error ? "Error: " : "") + answer.output.text) + "}");
    if (!after.empty()) items.push_back(user_entry(after));
    return joined(items);
  }

  std::unique_ptr<TurnReader> reader(int) const override { return std::make_unique<ResponsesReader>(); }

 private:
  std::string tools() const {
    std::vector<std::string> tools;
    for (const ToolSpec& tool : options_.tools)
      tools.push_back(R"({"type":"function","name":)" + json_string(tool.name) + R"(,"description":)" +
                      json_string(tool.description) + R"(,"strict":false,"parameters":)" + tool.schema + "}");
    return joined(tools);
  }

  std::string model_;
  Credentials credentials_;
  ChatOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> responses_dialect(const ModelName& model, const Credentials& credentials,
                                           const ChatOptions& options) {
  return std::make_unique<ResponsesDialect>(model, credentials, options);
}

}  // namespace onelaunch::llm
