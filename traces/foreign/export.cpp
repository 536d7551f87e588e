#include "traces/foreign/export.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "traces/foreign/exchange.h"
#include "traces/foreign/json_access.h"

namespace onelaunch::traces {
namespace {

using foreign::Exchange;
using Kind = TranscriptStep::Kind;
using Ordered = nlohmann::ordered_json;

std::string printed(const Ordered& json) { return json.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n"; }

double start_of(const Transcript& transcript) { return foreign::seconds_of(transcript.started).value_or(0); }

// Arguments that are no JSON object become one.
Ordered arguments_of(const TranscriptStep& call) {
  Ordered json = Ordered::parse(call.text, nullptr, false);
  if (json.is_object()) return json;
  return {{"input", call.text}};
}

Ordered metrics_of(const TokenUse& use, const std::optional<double>& cost) {
  Ordered json = Ordered::object();
  if (use.input) json["prompt_tokens"] = use.prompt();
  if (use.output) json["completion_tokens"] = *use.output;
  if (use.cache_read) json["cached_tokens"] = *use.cache_read;
  if (cost) json["cost_usd"] = *cost;
  return json;
}

void put_calls(Ordered& step, const Exchange& exchange) {
  if (exchange.calls.empty()) return;
  step["tool_calls"] = Ordered::array();
  Ordered results = Ordered::array();
  for (const auto& [call, result] : exchange.calls) {
    step["tool_calls"].push_back({{"tool_call_id", call->id}, {"function_name", call->name}, {"arguments", arguments_of(*call)}});
    if (!result) continue;
    results.push_back({{"source_call_id", call->id}, {"content", result->text}});
    if (result->seconds) step["extra"]["seconds"][call->id] = *result->seconds;
    if (result->failed) step["extra"]["failed"].push_back(call->id);
  }
  if (!results.empty()) step["observation"] = {{"results", results}};
}

Ordered atif_step(const Transcript& transcript, const Exchange& exchange, std::size_t number) {
  const bool agent = exchange.kind == Kind::assistant;
  Ordered step = {{"step_id", number}};
  if (exchange.t) step["timestamp"] = foreign::iso_of(start_of(transcript) + *exchange.t);
  step["source"] = agent ? "agent" : exchange.kind == Kind::user ? "user" : "system";
  step["message"] = exchange.text;
  if (!agent) return step;
  const std::string model = exchange.turn && !exchange.turn->model.empty() ? exchange.turn->model : transcript.model;
  if (!model.empty()) step["model_name"] = model;
  if (!exchange.reasoning.empty()) step["reasoning_content"] = exchange.reasoning;
  put_calls(step, exchange);
  if (exchange.turn)
    if (Ordered metrics = metrics_of(exchange.turn->use, exchange.turn->cost_usd); !metrics.empty()) step["metrics"] = metrics;
  return step;
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

// ---- OpenTelemetry

Ordered text_attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}
Ordered count_attribute(const std::string& key, std::uint64_t value) {
  return {{"key", key}, {"value", {{"intValue", std::to_string(value)}}}};
}

void put_usage(Ordered& attributes, const TokenUse& use) {
  if (use.input) attributes.push_back(count_attribute("gen_ai.usage.input_tokens", use.prompt()));
  if (use.output) attributes.push_back(count_attribute("gen_ai.usage.output_tokens", *use.output));
  if (use.cache_read) attributes.push_back(count_attribute("gen_ai.usage.cache_read.input_tokens", *use.cache_read));
  if (use.cache_write) attributes.push_back(count_attribute("gen_ai.usage.cache_creation.input_tokens", *use.cache_write));
}

// Spans of one trace; their ids follow from the session, so that exporting twice gives the same.
class SpanWriter {
 public:
  explicit SpanWriter(const Transcript& transcript) : transcript_(transcript), start_(start_of(transcript)) {
    trace_ = sha256_hex(transcript.format + transcript.session + transcript.started).substr(0, 32);
    root_ = span_id("root");
  }

  Ordered spans() {
    const double end = transcript_.duration_s.value_or(static_cast<double>(transcript_.steps.size()));
    add(root_, "", "invoke_agent " + transcript_.agent, 0, end, root_attributes(), false);
    for (const Exchange& exchange : foreign::exchanges_of(transcript_)) take(exchange);
    return std::move(spans_);
  }

 private:
  std::string span_id(const std::string& what) const { return sha256_hex(trace_ + what).substr(0, 16); }
  static std::string nanos(double seconds) { return std::to_string(static_cast<std::uint64_t>(seconds * 1e6)) + "000"; }

  void add(const std::string& id, const std::string& parent, const std::string& name, double from, double to,
           const Ordered& attributes, bool failed) {
    Ordered span = {{"traceId", trace_}, {"spanId", id}};
    if (!parent.empty()) span["parentSpanId"] = parent;
    span["name"] = name;
    span["kind"] = 1;  // internal
    span["startTimeUnixNano"] = nanos(start_ + from);
    span["endTimeUnixNano"] = nanos(start_ + std::max(from, to));
    span["attributes"] = attributes;
    span["status"] = failed ? Ordered{{"code", 2}} : Ordered::object();
    spans_.push_back(span);
  }

  Ordered root_attributes() const {
    Ordered attributes = Ordered::array({text_attribute("gen_ai.operation.name", "invoke_agent"),
                                         text_attribute("gen_ai.agent.name", transcript_.agent)});
    if (!transcript_.session.empty()) attributes.push_back(text_attribute("gen_ai.conversation.id", transcript_.session));
    if (!transcript_.model.empty()) attributes.push_back(text_attribute("gen_ai.request.model", transcript_.model));
    put_usage(attributes, transcript_.use);
    for (const std::string& lack : transcript_.lacks) attributes.push_back(text_attribute("onelaunch.not_told", lack));
    return attributes;
  }

  void take(const Exchange& exchange) {
    const std::string number = std::to_string(++exchanges_);
    last_ = exchange.t.value_or(last_);
    if (exchange.kind != Kind::assistant) return;
    Ordered attributes = Ordered::array({text_attribute("gen_ai.operation.name", "chat")});
    const std::string model = exchange.turn && !exchange.turn->model.empty() ? exchange.turn->model : transcript_.model;
    if (!model.empty()) attributes.push_back(text_attribute("gen_ai.request.model", model));
    if (exchange.turn) {
      attributes.push_back(text_attribute("gen_ai.response.id", exchange.turn->id));
      put_usage(attributes, exchange.turn->use);
    }
    const Ordered part = {{"type", "text"}, {"content", exchange.text}};
    const Ordered message = Ordered::array({{{"role", "assistant"}, {"parts", Ordered::array({part})}}});
    attributes.push_back(text_attribute("gen_ai.output.messages", message.dump(-1, ' ', false, Ordered::error_handler_t::replace)));
    add(span_id("chat" + number), root_, "chat" + (model.empty() ? "" : " " + model), last_, last_, attributes, false);
    for (const auto& [call, result] : exchange.calls) tool(*call, result);
  }

  void tool(const TranscriptStep& call, const TranscriptStep* result) {
    const double from = call.t.value_or(last_);
    const double to = result && result->t ? *result->t : from + (result ? result->seconds.value_or(0) : 0);
    Ordered attributes = Ordered::array({text_attribute("gen_ai.operation.name", "execute_tool"),
                                         text_attribute("gen_ai.tool.name", call.name), text_attribute("gen_ai.tool.type", "function"),
                                         text_attribute("gen_ai.tool.call.id", call.id),
                                         text_attribute("gen_ai.tool.call.arguments", call.text)});
    if (result) attributes.push_back(text_attribute("gen_ai.tool.call.result", result->text));
    const bool failed = result && result->failed;
    if (failed) attributes.push_back(text_attribute("error.type", "_OTHER"));
    add(span_id("tool" + call.id + std::to_string(exchanges_)), root_, "execute_tool " + call.name, from, to, attributes, failed);
  }

  const Transcript& transcript_;
  double start_ = 0, last_ = 0;
  std::string trace_, root_;
  std::size_t exchanges_ = 0;
  Ordered spans_ = Ordered::array();
};

}  // namespace

std::string print_atif(const Transcript& t) {
  Ordered json = {{"schema_version", "ATIF-v1.4"}, {"session_id", or_unknown(t.session)}};
  json["agent"] = {{"name", or_unknown(t.agent)}, {"version", or_unknown(t.version)}};
  if (!t.model.empty()) json["agent"]["model_name"] = t.model;
  json["steps"] = Ordered::array();
  for (const Exchange& exchange : foreign::exchanges_of(t))
    json["steps"].push_back(atif_step(t, exchange, json["steps"].size() + 1));
  Ordered final_metrics = {{"total_steps", json["steps"].size()}};
  if (t.use.input) final_metrics["total_prompt_tokens"] = t.use.prompt();
  if (t.use.output) final_metrics["total_completion_tokens"] = *t.use.output;
  if (t.use.cache_read) final_metrics["total_cached_tokens"] = *t.use.cache_read;
  if (t.cost_usd) final_metrics["total_cost_usd"] = *t.cost_usd;
  json["final_metrics"] = final_metrics;
  json["extra"] = {{"source_format", t.format}, {"ending", t.ending}, {"not_told", t.lacks}, {"figures", t.figures}};
  return printed(json);
}

std::string print_otel(const Transcript& t) {
  const Ordered resource = {{"attributes", Ordered::array({text_attribute("service.name", or_unknown(t.agent)),
                                                           text_attribute("service.version", or_unknown(t.version))})}};
  const Ordered scope = {{"scope", {{"name", "onelaunch"}, {"version", "semantic-conventions-genai 0.1.0"}}},
                         {"spans", SpanWriter(t).spans()}};
  return printed({{"resourceSpans", Ordered::array({{{"resource", resource}, {"scopeSpans", Ordered::array({scope})}}})}});
}

}  // namespace onelaunch::traces
