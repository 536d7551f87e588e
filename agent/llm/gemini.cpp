// Google's Gemini API, streamGenerateContent.
#include <array>

#include "agent/llm/address.h"
#include "agent/llm/dialect.h"
#include "agent/llm/event_json.h"
#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

constexpr const char* kOwnHost = "https://generativelanguage.googleapis.com";

// Reasons to end that are the model's own mistake: the next try may do better.
constexpr std::array kMistakes = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER",
                                  "MALFORMED_RESPONSE"};
// FUNCTION_CALL is no value of Google's, but some servers send it.
constexpr std::array kGoodEnds = {"STOP", "FUNCTION_CALL", "FINISH_REASON_UNSPECIFIED"};

bool is_one_of(const auto& list, const std::string& text) {
  for (const char* element : list)
    if (text == element) return true;
  return false;
}

class GeminiReader final : public TurnReader {
 public:
  Appetite read(const SseEvent& event) override {
    const EventJson data = parsed(event.data);
    if (data.json.is_discarded())
      spoil({Fault::Kind::transient, "an event is no JSON"});
    else if (!at(data.json, "error").is_null())
      spoil(fault_of_event(data.text));
    else
      take_chunk(data);
    if (fault_) return Appetite::spoilt;
    return finish_reason_.empty() ? Appetite::more : Appetite::nearly;
  }

  TurnResult finish() override {
    if (fault_) return tl::unexpected<Fault>(*fault_);
    if (finish_reason_.empty())
      return tl::unexpected<Fault>({Fault::Kind::transient, "the stream ended before the reply did"});
    if (is_one_of(kMistakes, finish_reason_)) return tl::unexpected<Fault>({Fault::Kind::malformed, finish_reason_});
    turn_.ending = turn_.calls.empty() ? Ending::finished : Ending::tool_calls;
    if (finish_reason_ == "MAX_TOKENS") {
      turn_.ending = Ending::cut_off;
    } else if (!is_one_of(kGoodEnds, finish_reason_)) {
      turn_.ending = Ending::refused;
      turn_.detail = finish_reason_ + (turn_.detail.empty() ? "" : ": " + turn_.detail);
    }
    if (turn_.ending != Ending::tool_calls) turn_.calls.clear();
    turn_.raw = content_of(parts_);
    turn_.kept = kept();
    return std::move(turn_);
  }

 private:
  struct Part {
    std::string raw;
    bool is_call, is_thought, is_text;
  };

  void spoil(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }

  void take_chunk(const EventJson& data) {
    if (const std::string model = text_at(data.json, "modelVersion"); !model.empty()) turn_.model = model;
    take_usage(at(data.json, "usageMetadata"));
    if (const std::string reason = text_at(at(data.json, "promptFeedback"), "blockReason"); !reason.empty()) {
      finish_reason_ = "PROMPT_BLOCKED";
      turn_.detail = reason;
    }
    const auto candidates = raw_elements(raw_member(data.text, "candidates").value_or("[]"));
    const Json& parsed_candidates = at(data.json, "candidates");
    if (candidates.empty() || !parsed_candidates.is_array() || parsed_candidates.empty()) return;
    const Json& candidate = parsed_candidates.front();
    const std::string_view content = raw_member(candidates.front(), "content").value_or("{}");
    for (const std::string_view part : raw_elements(raw_member(content, "parts").value_or("[]"))) take_part(part);
    if (const std::string reason = text_at(candidate, "finishReason"); !reason.empty()) finish_reason_ = reason;
    if (const std::string message = text_at(candidate, "finishMessage"); !message.empty()) turn_.detail = message;
  }

  void take_part(std::string_view raw) {
    const Json part = Json::parse(raw.begin(), raw.end(), nullptr, false);
    if (!part.is_object()) return;
    const Json& call = at(part, "functionCall");
    const Json& thought = at(part, "thought");
    const bool is_thought = thought.is_boolean() && thought.get<bool>();
    const bool is_text = !text_at(part, "text").empty();
    if (call.is_object()) {
      const std::string arguments(raw_member(raw_member(raw, "functionCall").value_or("{}"), "args").value_or("{}"));
      turn_.calls.push_back({text_at(call, "id"), text_at(call, "name"), arguments == "null" ? "{}" : arguments});
    } else {
      (is_thought ? turn_.reasoning : turn_.text) += text_at(part, "text");
    }
    // An empty part without a signature says nothing, and is not taken back.
    if (call.is_object() || is_text || !at(part, "thoughtSignature").is_null() || at(part, "text").is_null())
      parts_.push_back({std::string(raw), call.is_object(), is_thought, is_text});
  }

  void take_usage(const Json& usage) {
    if (!usage.is_object()) return;
    Usage& sum = turn_.usage;
    take_count(usage, "promptTokenCount", prompt_);
    take_count(usage, "toolUsePromptTokenCount", tool_prompt_);
    take_count(usage, "cachedContentTokenCount", sum.cache_read);
    take_count(usage, "candidatesTokenCount", candidates_);
    take_count(usage, "thoughtsTokenCount", sum.reasoning);
    sum.input = prompt_ + tool_prompt_ - std::min(prompt_ + tool_prompt_, sum.cache_read);
    sum.output = candidates_ + sum.reasoning;
    sum.known = sum.known || count_at(usage, "promptTokenCount").has_value();
  }

  static std::string content_of(const std::vector<Part>& parts) {
    std::vector<std::string> texts;
    for (const Part& part : parts) texts.push_back(part.raw);
    return R"({"role":"model","parts":[)" + joined(texts) + "]}";
  }

  // A complete turn goes back as it came, of one that was cut what stands before its first call.
  std::string kept() const {
    if (turn_.ending == Ending::refused) return "";
    std::vector<Part> parts;
    std::size_t whole = 0;
    for (const Part& part : parts_) {
      if (turn_.ending == Ending::cut_off && part.is_call) break;
      parts.push_back(part);
      if (part.is_call || (part.is_text && !part.is_thought)) whole = parts_.size();
    }
    return whole == 0 ? "" : content_of(parts);
  }

  std::vector<Part> parts_;
  std::string finish_reason_;
  std::uint64_t prompt_ = 0, tool_prompt_ = 0, candidates_ = 0;
  Turn turn_;
  std::optional<Fault> fault_;
};

class GeminiDialect final : public Dialect {
 public:
  GeminiDialect(const ModelName& model, const Credentials& credentials, const ChatOptions& options)
      : model_(model.model), credentials_(credentials), options_(options) {
    if (credentials_.base_url.empty()) credentials_.base_url = kOwnHost;
    if (model_.starts_with("models/")) model_.erase(0, 7);
  }

  std::string url() const override {
    return api_url(credentials_.base_url, "/v1beta", "/models/" + model_ + ":streamGenerateContent?alt=sse");
  }

  std::vector<std::string> headers() const override {
    std::vector<std::string> headers = {"content-type: application/json", "accept: text/event-stream"};
    if (!credentials_.key.empty()) headers.push_back("x-goog-api-key: " + credentials_.key);
    return headers;
  }

  std::string head() const override {
    std::string body = R"({"generationConfig":{"maxOutputTokens":)" + std::to_string(options_.max_output_tokens);
    if (thinks()) {
      body += R"(,"thinkingConfig":{"includeThoughts":true)";
      if (!options_.effort.empty() && !model_.starts_with("gemini-2"))  // which counts tokens instead
        body += R"(,"thinkingLevel":)" + json_string(options_.effort);
      body += "}";
    }
    body += "}";
    if (!options_.system.empty())
      body += R"(,"systemInstruction":{"parts":[{"text":)" + json_string(options_.system) + "}]}";
    if (!options_.tools.empty()) body += R"(,"tools":[{"functionDeclarations":[)" + tools() + "]}]";
    return body + R"(,"contents":[)";
  }

  std::string tail() const override { return "]}"; }

  std::string user_entry(const std::string& text) const override {
    return R"({"role":"user","parts":[{"text":)" + json_string(text) + "}]}";
  }

  std::string answer_entries(const std::vector<Answered>& answers, const std::string& after) const override {
    std::vector<std::string> parts;
    for (const Answered& answer : answers) {
      const std::string id = answer.call.wire_id.empty() ? "" : R"("id":)" + json_string(answer.call.wire_id) + ",";
      parts.push_back(R"({"functionResponse":{)" + id + R"("name":)" + json_string(answer.call.name) +
                      R"(,"response":{)" + (answer.output.error ? R"("error":)" : R"("output":)") +
                      json_string(answer.output.text) + "}}}");
    }
    const std::string results = R"({"role":"user","parts":[)" + joined(parts) + "]}";
    return after.empty() ? results : results + "," + user_entry(after);
  }

  std::unique_ptr<TurnReader> reader(int) const override { return std::make_unique<GeminiReader>(); }

 private:
  bool thinks() const { return !model_.starts_with("gemini-1") && !model_.starts_with("gemini-2.0"); }

  std::string tools() const {
    std::vector<std::string> tools;
    for (const ToolSpec& tool : options_.tools)
      tools.push_back(R"({"name":)" + json_string(tool.name) + R"(,"description":)" + json_string(tool.description) +
                      R"(,"parametersJsonSchema":)" + tool.schema + "}");
    return joined(tools);
  }

  std::string model_;
  Credentials credentials_;
  ChatOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> gemini_dialect(const ModelName& model, const Credentials& credentials,
                                        const ChatOptions& options) {
  return std::make_unique<GeminiDialect>(model, credentials, options);
}

}  // namespace onelaunch::llm
