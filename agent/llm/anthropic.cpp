// Anthropic's Messages API.
#include <map>

#include "agent/llm/address.h"
#include "agent/llm/dialect.h"
#include "agent/llm/event_json.h"
#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

constexpr const char* kOwnHost = "https://api.anthropic.com";
// What never changes is kept for an hour: a job on the device may take longer than the usual five minutes.
constexpr const char* kCacheForAnHour = R"("cache_control":{"type":"ephemeral","ttl":"1h"})";
// Marks the last block of each request, without touching the history's bytes.
constexpr const char* kCacheTheTail = R"("cache_control":{"type":"ephemeral"})";

// Models before 4.6 know neither adaptive thinking nor effort.
bool thinks_adaptively(const std::string& model) {
  if (model.find("claude") == std::string::npos) return false;
  for (const char* old : {"claude-2", "claude-3", "claude-instant", "-4-0", "-4-1", "-4-5", "-4-20"})
    if (model.find(old) != std::string::npos) return false;
  return !model.ends_with("-4");
}

struct Block {
  Json start;
  std::string text, thinking, input;  // what the deltas add up to
  bool stopped = false;

  std::string type() const { return text_at(start, "type"); }
  bool is_call() const { return type() == "tool_use"; }
  bool is_thinking() const { return type() == "thinking" || type() == "redacted_thinking"; }
  bool is_empty_text() const { return type() == "text" && text_at(start, "text").empty(); }
  // The members as they came, the input as the model wrote it.
  std::string raw() const {
    std::vector<std::string> members;
    for (const auto& [key, value] : start.items())
      members.push_back(json_string(key) + ":" + (key == "input" ? valid_input() : printed(value)));
    return "{" + joined(members) + "}";
  }
  std::string written_input() const {
    if (!input.empty()) return input;
    return at(start, "input").is_object() ? printed(at(start, "input")) : "{}";
  }
  std::string valid_input() const {
    const std::string written = written_input();
    return is_json_object(written) ? written : R"({"invalid_json":)" + json_string(written) + "}";
  }
};

class AnthropicReader final : public TurnReader {
 public:
  Appetite read(const SseEvent& event) override {
    const EventJson data = parsed(event.data);
    const std::string type = text_at(data.json, "type");
    if (data.json.is_discarded())
      spoil({Fault::Kind::transient, "an event is no JSON"});
    else if (type == "error")
      spoil(fault_of_event(data.text));
    else if (type == "message")
      take_whole(data.json);
    else if (type == "message_start")
      take_start(at(data.json, "message"));
    else if (type == "content_block_start")
      blocks_[count_at(data.json, "index").value_or(0)] = {at(data.json, "content_block")};
    else if (type == "content_block_delta")
      take_delta(block(data.json), at(data.json, "delta"));
    else if (type == "content_block_stop")
      end(block(data.json));
    else if (type == "message_delta")
      take_end(at(data.json, "delta"), at(data.json, "usage"));
    else if (type == "message_stop")
      complete_ = true;
    if (fault_) return Appetite::spoilt;
    return complete_ ? Appetite::done : Appetite::more;
  }

  TurnResult finish() override {
    if (fault_) return tl::unexpected<Fault>(*fault_);
    for (const auto& [index, block] : blocks_) complete_ = complete_ && block.stopped && !block.type().empty();
    if (!complete_) return tl::unexpected<Fault>({Fault::Kind::transient, "the stream ended before the reply did"});
    for (const auto& [index, block] : blocks_) read_block(block);
    settle_ending();
    turn_.raw = message_of(std::string::npos);
    turn_.kept = kept();
    return std::move(turn_);
  }

 private:
  void spoil(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }

  Block& block(const Json& event) { return blocks_[count_at(event, "index").value_or(0)]; }

  // Servers that do not stream answer with the whole message.
  void take_whole(const Json& message) {
    take_start(message);
    std::uint64_t index = 0;
    for (const Json& content : at(message, "content")) blocks_[index++] = {content, "", "", "", true};
    take_end(message, Json());
    complete_ = true;
  }

  void take_start(const Json& message) {
    turn_.model = text_at(message, "model");
    take_usage(at(message, "usage"));
  }

  // Counts are cumulative, and null where nothing changed.
  void take_usage(const Json& usage) {
    Usage& sum = turn_.usage;
    take_count(usage, "input_tokens", sum.input);
    take_count(usage, "cache_read_input_tokens", sum.cache_read);
    take_count(usage, "output_tokens", sum.output);
    take_count(at(usage, "output_tokens_details"), "thinking_tokens", sum.reasoning);
    const Json& written = at(usage, "cache_creation");
    if (written.is_object()) {
      take_count(written, "ephemeral_5m_input_tokens", sum.cache_write_5m);
      take_count(written, "ephemeral_1h_input_tokens", sum.cache_write_1h);
    } else if (const auto all = count_at(usage, "cache_creation_input_tokens")) {
      sum.cache_write_5m = *all - std::min(*all, sum.cache_write_1h);
    }
    sum.known = sum.known || count_at(usage, "output_tokens").has_value();
  }

  static void take_delta(Block& block, const Json& delta) {
    const std::string type = text_at(delta, "type");
    if (!block.start.is_object()) return;
    if (type == "text_delta") block.text += text_at(delta, "text");
    if (type == "thinking_delta") block.thinking += text_at(delta, "thinking");
    if (type == "input_json_delta") block.input += text_at(delta, "partial_json");
    if (type == "signature_delta") block.start["signature"] = text_at(delta, "signature");
    if (type == "citations_delta") {
      Json& citations = block.start["citations"];
      if (!citations.is_array()) citations = Json::array();
      citations.push_back(at(delta, "citation"));
    }
    if (type == "compaction_delta")
      for (const char* key : {"content", "encrypted_content"})
        if (!at(delta, key).is_null()) block.start[key] = at(delta, key);
  }

  static void end(Block& block) {
    if (!block.text.empty()) block.start["text"] = text_at(block.start, "text") + block.text;
    if (!block.thinking.empty()) block.start["thinking"] = text_at(block.start, "thinking") + block.thinking;
    block.stopped = true;
  }

  void take_end(const Json& delta, const Json& usage) {
    if (const std::string reason = text_at(delta, "stop_reason"); !reason.empty()) stop_reason_ = reason;
    const Json& details = at(delta, "stop_details");
    if (details.is_object()) {
      turn_.detail = text_at(details, "category");
      const std::string explanation = text_at(details, "explanation");
      if (!explanation.empty()) turn_.detail += (turn_.detail.empty() ? "" : ": ") + explanation;
    }
    take_usage(usage);
  }

  void read_block(const Block& block) {
    if (block.type() == "text") turn_.text += text_at(block.start, "text");
    if (block.type() == "thinking") turn_.reasoning += text_at(block.start, "thinking");
    if (block.is_call())
      turn_.calls.push_back({text_at(block.start, "id"), text_at(block.start, "name"), block.written_input()});
  }

  void settle_ending() {
    static const std::map<std::string, Ending> endings = {{"max_tokens", Ending::cut_off},
                                                          {"pause_turn", Ending::paused},
                                                          {"refusal", Ending::refused},
                                                          {"model_context_window_exceeded", Ending::context_full}};
    const auto found = endings.find(stop_reason_);
    // Some servers say end_turn although there are calls.
    if (found != endings.end())
      turn_.ending = found->second;
    else
      turn_.ending = turn_.calls.empty() ? Ending::finished : Ending::tool_calls;
    if (turn_.ending != Ending::tool_calls) turn_.calls.clear();
  }

  // The blocks before the `limit`th.
  std::string message_of(std::size_t limit) const {
    std::vector<std::string> content;
    for (const auto& [index, block] : blocks_)
      if (content.size() < limit) content.push_back(block.raw());
    return R"({"role":"assistant","content":[)" + joined(content) + "]}";
  }

  // A complete turn goes back as it came. Of one that was cut, what stands before its first call: that call would want
  // a result, and thinking may not be the last that a turn holds.
  std::string kept() const {
    if (turn_.ending == Ending::refused) return "";
    std::size_t count = 0, whole = 0;
    const bool cut = turn_.ending == Ending::cut_off || turn_.ending == Ending::context_full;
    for (const auto& [index, block] : blocks_) {
      if (cut && block.is_call()) break;
      ++count;
      if (!block.is_thinking() && !block.is_empty_text()) whole = count;
    }
    return whole == 0 ? "" : message_of(whole);
  }

  std::map<std::uint64_t, Block> blocks_;
  std::string stop_reason_;
  Turn turn_;
  std::optional<Fault> fault_;
  bool complete_ = false;
};

class AnthropicDialect final : public Dialect {
 public:
  AnthropicDialect(const ModelName& model, const Credentials& credentials, const ChatOptions& options)
      : model_(model.model), credentials_(credentials), options_(options) {
    if (credentials_.base_url.empty()) credentials_.base_url = kOwnHost;
  }

  std::string url() const override { return api_url(credentials_.base_url, "/v1", "/messages"); }

  std::vector<std::string> headers() const override {
    std::string version = options_.anthropic_version;
    if (version.empty()) version = credentials_.base_url == kOwnHost ? "2026-10-21" : "2023-06-01";
    std::vector<std::string> headers = {"content-type: application/json", "accept: text/event-stream",
                                        "anthropic-version: " + version};
    if (!credentials_.key.empty())
      headers.push_back((credentials_.bearer ? "authorization: Bearer " : "x-api-key: ") + credentials_.key);
    return headers;
  }

  std::string head() const override {
    std::string body = R"({"model":)" + json_string(model_) + R"(,"max_tokens":)" +
                       std::to_string(options_.max_output_tokens) + R"(,"stream":true,)" + kCacheTheTail;
    if (thinks_adaptively(model_)) {
      body += R"(,"thinking":{"type":"adaptive","display":"summarized"})";
      if (!options_.effort.empty()) body += R"(,"output_config":{"effort":)" + json_string(options_.effort) + "}";
    }
    if (!options_.system.empty())
      body += R"(,"system":[{"type":"text","text":)" + json_string(options_.system) + "," + kCacheForAnHour + "}]";
    if (!options_.tools.empty()) body += R"(,"tools":[)" + tools() + "]";
    return body + R"(,"messages":[)";
  }

  std::string tail() const override { return "]}"; }

  std::string user_entry(const std::string& text) const override {
    return R"({"role":"user","content":[{"type":"text","text":)" + json_string(text) + "}]}";
  }

  // All results of a turn in one message, and before any text.
  std::string answer_entries(const std::vector<Answered>& answers, const std::string& after) const override {
    std::vector<std::string> content;
    for (const Answered& answer : answers)
      content.push_back(R"({"type":"tool_result","tool_use_id":)" + json_string(answer.call.wire_id) +
                        R"(,"content":)" + json_string(answer.output.text) +
                        (answer.output.error ? R"(,"is_error":true})" : "}"));
    if (!after.empty()) content.push_back(R"({"type":"text","text":)" + json_string(after) + "}");
    return R"({"role":"user","content":[)" + joined(content) + "]}";
  }

  std::unique_ptr<TurnReader> reader(int) const override { return std::make_unique<AnthropicReader>(); }

 private:
  std::string tools() const {
    std::vector<std::string> tools;
    for (const ToolSpec& tool : options_.tools) {
      const bool last = &tool == &options_.tools.back();
      tools.push_back(R"({"name":)" + json_string(tool.name) + R"(,"description":)" + json_string(tool.description) +
                      R"(,"input_schema":)" + tool.schema + (last ? std::string(",") + kCacheForAnHour : "") + "}");
    }
    return joined(tools);
  }

  std::string model_;
  Credentials credentials_;
  ChatOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> anthropic_dialect(const ModelName& model, const Credentials& credentials,
                                           const ChatOptions& options) {
  return std::make_unique<AnthropicDialect>(model, credentials, options);
}

}  // namespace onelaunch::llm
