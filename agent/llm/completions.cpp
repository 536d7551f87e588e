// The Chat Completions API, as OpenAI defined it and as compatible servers speak it.
#include "agent/llm/address.h"
#include "agent/llm/call_pieces.h"
#include "agent/llm/dialect.h"
#include "agent/llm/event_json.h"
#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

// Under which name a server sent its reasoning: it wants it back under the same.
struct Reasoning {
  std::string content, plain;        // reasoning_content, reasoning
  std::vector<std::string> details;  // elements of reasoning_details, as they came

  std::string text() const { return content.empty() ? plain : content; }
  std::string member() const {
    if (!details.empty()) return R"(,"reasoning_details":[)" + joined(details) + "]";
    if (!content.empty()) return R"(,"reasoning_content":)" + json_string(content);
    if (!plain.empty()) return R"(,"reasoning":)" + json_string(plain);
    return "";
  }
};

class CompletionsReader final : public TurnReader {
 public:
  explicit CompletionsReader(int turn) : turn_number_(turn) {}

  Appetite read(const SseEvent& event) override {
    if (event.data == "[DONE]") {
      done_ = true;
      return appetite();
    }
    const EventJson data = parsed(event.data);
    if (data.json.is_discarded())
      spoil({Fault::Kind::transient, "an event is no JSON"});
    else if (!at(data.json, "error").is_null() || event.name == "error" || text_at(data.json, "object") == "error")
      spoil(fault_of_event(data.text));
    else
      take_chunk(data);
    return appetite();
  }

  TurnResult finish() override {
    if (fault_) return tl::unexpected<Fault>(*fault_);
    if (finish_reason_ == "error")
      return tl::unexpected<Fault>({Fault::Kind::transient, "the server broke the reply off"});
    // Not all servers say [DONE], nor a reason; one of the two tells that the reply was not just cut.
    if (finish_reason_.empty() && !done_)
      return tl::unexpected<Fault>({Fault::Kind::transient, "the stream ended before the reply did"});
    if (finish_reason_.empty() && turn_.text.empty() && calls_.empty())
      return tl::unexpected<Fault>({Fault::Kind::transient, "the reply is empty"});
    settle();
    return std::move(turn_);
  }

 private:
  Appetite appetite() const {
    if (fault_) return Appetite::spoilt;
    if (done_) return Appetite::done;
    return finish_reason_.empty() ? Appetite::more : Appetite::nearly;
  }

  void spoil(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }

  void take_chunk(const EventJson& data) {
    if (const std::string model = text_at(data.json, "model"); !model.empty()) turn_.model = model;
    const Json& choices = at(data.json, "choices");
    if (choices.is_array() && !choices.empty()) {
      const Json& choice = choices.front();
      const bool whole = at(choice, "message").is_object();  // from a server that does not stream
      take_delta(at(choice, whole ? "message" : "delta"), data.text, whole ? "message" : "delta");
      if (const std::string reason = text_at(choice, "finish_reason"); !reason.empty()) finish_reason_ = reason;
      done_ = done_ || whole;
    }
    take_usage(at(data.json, "usage"));
  }

  void take_delta(const Json& delta, std::string_view chunk, const char* name) {
    turn_.text += text_of(at(delta, "content"));
    refusal_ += text_at(delta, "refusal");
    reasoning_.content += text_at(delta, "reasoning_content");
    reasoning_.plain += text_at(delta, "reasoning");
    calls_.take(at(delta, "tool_calls"));
    if (!at(delta, "reasoning_details").is_array()) return;
    const auto choices = raw_elements(raw_member(chunk, "choices").value_or("[]"));
    const std::string_view raw = choices.empty() ? "{}" : raw_member(choices.front(), name).value_or("{}");
    for (const std::string_view detail : raw_elements(raw_member(raw, "reasoning_details").value_or("[]")))
      reasoning_.details.emplace_back(detail);
  }

  // A string, or a list of parts.
  static std::string text_of(const Json& content) {
    if (content.is_string()) return content.get<std::string>();
    std::string text;
    if (content.is_array())
      for (const Json& part : content) text += text_at(part, "text");
    return text;
  }

  void take_usage(const Json& usage) {
    if (!usage.is_object() || !count_at(usage, "completion_tokens")) return;
    Usage& sum = turn_.usage;
    std::uint64_t prompt = 0;
    take_count(usage, "prompt_tokens", prompt);
    take_count(usage, "prompt_cache_hit_tokens", sum.cache_read);
    take_count(at(usage, "prompt_tokens_details"), "cached_tokens", sum.cache_read);
    take_count(at(usage, "prompt_tokens_details"), "cache_write_tokens", sum.cache_write_5m);
    take_count(usage, "completion_tokens", sum.output);
    take_count(at(usage, "completion_tokens_details"), "reasoning_tokens", sum.reasoning);
    sum.input = prompt - std::min(prompt, sum.cache_read + sum.cache_write_5m);
    sum.known = true;
    if (const Json& cost = at(usage, "cost"); cost.is_number()) turn_.cost_usd = cost.get<double>();
  }

  void settle() {
    const std::vector<PiecedCall> calls = calls_.finish(turn_number_);
    turn_.reasoning = reasoning_.text();
    turn_.ending = calls.empty() ? Ending::finished : Ending::tool_calls;
    if (finish_reason_ == "length") turn_.ending = Ending::cut_off;
    if (finish_reason_ == "content_filter" || !refusal_.empty()) {
      turn_.ending = Ending::refused;
      turn_.detail = refusal_.empty() ? finish_reason_ : refusal_;
    }
    turn_.raw = message(calls);
    if (turn_.ending == Ending::tool_calls) {
      for (const PiecedCall& call : calls) turn_.calls.push_back({call.id, call.name, call.arguments});
      turn_.kept = turn_.raw;
    } else if (turn_.ending != Ending::refused && !turn_.text.empty()) {
      turn_.kept = message({});
    }
  }

  std::string message(const std::vector<PiecedCall>& calls) const {
    std::string text = R"({"role":"assistant","content":)" + (turn_.text.empty() ? "null" : json_string(turn_.text));
    if (calls.empty()) return text + "}";  // reasoning is wanted back only while calls are being made
    std::vector<std::string> parts;
    for (const PiecedCall& call : calls) {
      // Servers parse this again: what is no JSON would fail every later request.
      const std::string arguments =
          is_json_object(call.arguments) ? call.arguments : R"({"invalid_json":)" + json_string(call.arguments) + "}";
      parts.push_back(R"({"id":)" + json_string(call.id) + R"(,"type":"function","function":{"name":)" +
                      json_string(call.name) + R"(,"arguments":)" + json_string(arguments) + "}}");
    }
    return text + reasoning_.member() + R"(,"tool_calls":[)" + joined(parts) + "]}";
  }

  int turn_number_;
  CallPieces calls_;
  Reasoning reasoning_;
  std::string finish_reason_, refusal_;
  Turn turn_;
  std::optional<Fault> fault_;
  bool done_ = false;
};

class CompletionsDialect final : public Dialect {
 public:
  CompletionsDialect(const ModelName& model, const Credentials& credentials, const ChatOptions& options)
      : model_(model.model), credentials_(credentials), options_(options) {}

  std::string url() const override {
    const std::string& base = credentials_.base_url;
    // An address with a path is taken as it is: ".../v1beta/openai" ends in no version.
    const std::size_t host = base.find("://") + 3;
    const std::size_t path = base.find('/', host);
    const bool has_path = path != std::string::npos && path + 1 < base.size();
    return api_url(base, has_path ? "" : "/v1", "/chat/completions");
  }

  std::vector<std::string> headers() const override {
    std::vector<std::string> headers = {"content-type: application/json", "accept: text/event-stream"};
    if (!credentials_.key.empty()) headers.push_back("authorization: Bearer " + credentials_.key);
    return headers;
  }

  std::string head() const override {
    // Older servers know only the older name, OpenAI's newer models only the newer.
    const bool own = credentials_.base_url.find("://api.openai.com") != std::string::npos;
    std::string body =
        R"({"model":)" + json_string(model_) + R"(,"stream":true,"stream_options":{"include_usage":true},)" +
        (own ? R"("max_completion_tokens":)" : R"("max_tokens":)") + std::to_string(options_.max_output_tokens);
    if (!options_.effort.empty()) body += R"(,"reasoning_effort":)" + json_string(options_.effort);
    if (!options_.tools.empty()) body += R"(,"tools":[)" + tools() + "]";
    body += R"(,"messages":[)";
    if (!options_.system.empty()) body += R"({"role":"system","content":)" + json_string(options_.system) + "},";
    return body;
  }

  std::string tail() const override { return "]}"; }

  std::string user_entry(const std::string& text) const override {
    return R"({"role":"user","content":)" + json_string(text) + "}";
  }

  // What comes after goes into the last result: some chat templates take no user message between results and reply.
  std::string answer_entries(const std::vector<Answered>& answers, const std::string& after) const override {
    std::vector<std::string> messages;
    for (const Answered& answer : answers) {
      std::string text = std::string(answer.output.error ? "Error: " : "") + answer.output.text;
      if (&answer == &answers.back() && !after.empty()) text += "\n\n" + after;
      messages.push_back(R"({"role":"tool","tool_call_id":)" + json_string(answer.call.wire_id) + R"(,"content":)" +
                         json_string(text) + "}");
    }
    return joined(messages);
  }

  std::unique_ptr<TurnReader> reader(int turn) const override { return std::make_unique<CompletionsReader>(turn); }

 private:
  std::string tools() const {
    std::vector<std::string> tools;
    for (const ToolSpec& tool : options_.tools)
      tools.push_back(R"({"type":"function","function":{"name":)" + json_string(tool.name) + R"(,"description":)" +
                      json_string(tool.description) + R"(,"parameters":)" + tool.schema + "}}");
    return joined(tools);
  }

  std::string model_;
  Credentials credentials_;
  ChatOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> completions_dialect(const ModelName& model, const Credentials& credentials,
                                             const ChatOptions& options) {
  return std::make_unique<CompletionsDialect>(model, credentials, options);
}

}  // namespace onelaunch::llm
