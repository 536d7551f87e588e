#include "tests/fakes/fake_model.h"

#include "tests/fakes/fake_model_check.h"

namespace onelaunch::fakes {
namespace {

std::string event(const Json& data) {
  const auto type = data.find("type");
  return (type == data.end() ? "" : "event: " + type->get<std::string>() + "\n") + "data: " + data.dump() + "\n\n";
}

std::string data_only(const Json& data) { return "data: " + data.dump() + "\n\n"; }

// In two pieces, never inside a character.
std::vector<std::string> halves(const std::string& text) {
  std::size_t middle = text.size() / 2;
  while (middle < text.size() && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) ++middle;
  return {text.substr(0, middle), text.substr(middle)};
}

std::string block_events(int index, const Json& start, const std::vector<Json>& deltas) {
  std::string text = event({{"type", "content_block_start"}, {"index", index}, {"content_block", start}});
  for (const Json& delta : deltas) text += event({{"type", "content_block_delta"}, {"index", index}, {"delta", delta}});
  return text + event({{"type", "content_block_stop"}, {"index", index}});
}

std::vector<Json> deltas(const char* type, const char* key, const std::string& text) {
  std::vector<Json> result;
  for (const std::string& half : halves(text)) result.push_back(Json{{"type", type}, {key, half}});
  return result;
}

std::string anthropic_blocks(const FakeReply& reply, const Json& body) {
  std::string text;
  int index = 0;
  if (!reply.thinking.empty()) {
    auto pieces = deltas("thinking_delta", "thinking", reply.thinking);
    pieces.push_back(Json{{"type", "signature_delta"},
                          {"signature", anthropic_signature(body, body.at("messages").size(), 0, reply.thinking)}});
    text += block_events(index++, Json{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, pieces);
  }
  if (!reply.text.empty())
    text += block_events(index++, Json{{"type", "text"}, {"text", ""}}, deltas("text_delta", "text", reply.text));
  for (const FakeCall& call : reply.calls)
    text += block_events(
        index++, Json{{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", Json::object()}},
        call.arguments == "{}" ? std::vector<Json>{} : deltas("input_json_delta", "partial_json", call.arguments));
  return text;
}

std::string anthropic_stream(const FakeReply& reply, const Json& body) {
  Json usage{
      {"input_tokens", reply.input},
      {"cache_creation_input_tokens", reply.cache_write_5m + reply.cache_write_1h},
      {"cache_read_input_tokens", reply.cache_read},
      {"cache_creation",
       {{"ephemeral_5m_input_tokens", reply.cache_write_5m}, {"ephemeral_1h_input_tokens", reply.cache_write_1h}}},
      {"output_tokens", 1}};
  Json message{{"id", "msg_1"},
               {"type", "message"},
               {"role", "assistant"},
               {"model", reply.model},
               {"content", Json::array()},
               {"stop_reason", nullptr},
               {"stop_sequence", nullptr},
               {"usage", usage}};
  if (!reply.tells_usage) message.erase("usage");
  std::string text = event({{"type", "message_start"}, {"message", message}}) + event({{"type", "ping"}});
  text += anthropic_blocks(reply, body);
  text += event({{"type", "something_new"}, {"value", 1}});
  const std::string reason = !reply.ending.empty() ? reply.ending : reply.calls.empty() ? "end_turn" : "tool_use";
  Json delta{{"stop_reason", reason}, {"stop_sequence", nullptr}};
  if (reason == "refusal") delta["stop_details"] = {{"category", "frontier_llm"}, {"explanation", reply.detail}};
  Json end{{"type", "message_delta"}, {"delta", delta}};
  if (reply.tells_usage)  // the input side is null, which means unchanged
    end["usage"] = {{"input_tokens", nullptr},
                    {"cache_read_input_tokens", nullptr},
                    {"output_tokens", reply.output},
                    {"output_tokens_details", {{"thinking_tokens", reply.reasoning}}}};
  return text + event(end) + event({{"type", "message_stop"}});
}

std::string item_events(int index, const Json& item, const std::string& kind, const std::string& text) {
  std::string events = event({{"type", "response.output_item.added"}, {"output_index", index}, {"item", item}});
  for (const std::string& half : halves(text))
    if (!half.empty()) events += event({{"type", kind}, {"output_index", index}, {"delta", half}});
  return events + event({{"type", "response.output_item.done"}, {"output_index", index}, {"item", item}});
}

std::string responses_items(const FakeReply& reply, const Json& body, const std::string& status) {
  std::string text;
  int index = 0;
  if (!reply.thinking.empty()) {
    const Json summary = Json::array({{{"type", "summary_text"}, {"text", reply.thinking}}});
    const Json item{{"type", "reasoning"},
                    {"id", "rs_1"},
                    {"summary", summary},
                    {"encrypted_content", responses_seal(body, body.at("input").size())}};
    text += item_events(index++, item, "response.reasoning_summary_text.delta", reply.thinking);
  }
  if (!reply.text.empty() || !reply.detail.empty()) {
    Json content = Json::array();
    if (!reply.text.empty())
      content.push_back({{"type", "output_text"}, {"text", reply.text}, {"annotations", Json::array()}});
    if (!reply.detail.empty()) content.push_back({{"type", "refusal"}, {"refusal", reply.detail}});
    const Json item{
        {"type", "message"}, {"id", "msg_1"}, {"status", status}, {"role", "assistant"}, {"content", content}};
    text += item_events(index++, item, "response.output_text.delta", reply.text);
  }
  for (const FakeCall& call : reply.calls) {
    const Json item{{"type", "function_call"}, {"id", "fc_" + call.id},       {"call_id", call.id},
                    {"name", call.name},       {"arguments", call.arguments}, {"status", status}};
    text += item_events(index++, item, "response.function_call_arguments.delta", call.arguments);
  }
  return text;
}

std::string responses_stream(const FakeReply& reply, const Json& body) {
  const bool whole = reply.ending.empty();
  const std::string status = whole ? "completed" : "incomplete";
  Json response{{"id", "resp_1"}, {"object", "response"}, {"model", reply.model}, {"status", "in_progress"}};
  std::string text = event({{"type", "response.created"}, {"sequence_number", 0}, {"response", response}});
  text += responses_items(reply, body, status);
  response["status"] = status;
  if (!whole) response["incomplete_details"] = {{"reason", reply.ending}};
  if (reply.tells_usage)
    response["usage"] = {
        {"input_tokens", reply.input + reply.cache_read + reply.cache_write_5m},
        {"input_tokens_details", {{"cached_tokens", reply.cache_read}, {"cache_write_tokens", reply.cache_write_5m}}},
        {"output_tokens", reply.output},
        {"output_tokens_details", {{"reasoning_tokens", reply.reasoning}}}};
  return text + event({{"type", "response." + status}, {"response", response}});
}

std::string completions_stream(const FakeReply& reply) {
  const auto chunk = [&](const Json& delta, const Json& reason) {
    return data_only({{"id", "chatcmpl-1"},
                      {"object", "chat.completion.chunk"},
                      {"model", reply.model},
                      {"choices", Json::array({{{"index", 0}, {"delta", delta}, {"finish_reason", reason}}})}});
  };
  std::string text = ": a comment\n\n" + chunk({{"role", "assistant"}, {"content", nullptr}}, nullptr);
  for (const std::string& half : halves(reply.thinking)) text += chunk({{"reasoning_content", half}}, nullptr);
  for (const std::string& half : halves(reply.text)) text += chunk({{"content", half}}, nullptr);
  if (!reply.detail.empty()) text += chunk({{"refusal", reply.detail}}, nullptr);
  int index = 0;
  for (const FakeCall& call : reply.calls) {
    const auto piece = [&](const Json& part) { return chunk({{"tool_calls", Json::array({part})}}, nullptr); };
    text += piece({{"index", index},
                   {"id", call.id},
                   {"type", "function"},
                   {"function", {{"name", call.name}, {"arguments", ""}}}});
    for (const std::string& half : halves(call.arguments))
      text += piece({{"index", index}, {"function", {{"arguments", half}}}});
    ++index;
  }
  text += chunk(Json::object(), !reply.ending.empty() ? reply.ending : reply.calls.empty() ? "stop" : "tool_calls");
  if (reply.tells_usage)
    text += data_only({{"model", reply.model},
                       {"choices", Json::array()},
                       {"usage",
                        {{"prompt_tokens", reply.input + reply.cache_read + reply.cache_write_5m},
                         {"completion_tokens", reply.output},
                         {"prompt_tokens_details",
                          {{"cached_tokens", reply.cache_read}, {"cache_write_tokens", reply.cache_write_5m}}},
                         {"completion_tokens_details", {{"reasoning_tokens", reply.reasoning}}}}}});
  return text + "data: [DONE]\n\n";
}

std::string gemini_stream(const FakeReply& reply, const Json& body) {
  std::string text;
  const auto chunk = [&](const Json& parts, const std::string& reason, bool usage) {
    Json candidate{{"content", {{"role", "model"}, {"parts", parts}}}, {"index", 0}};
    if (!reason.empty()) candidate["finishReason"] = reason;
    if (!reason.empty() && !reply.detail.empty()) candidate["finishMessage"] = reply.detail;
    Json data{{"candidates", Json::array({candidate})}, {"modelVersion", reply.model}, {"responseId", "r1"}};
    if (usage && reply.tells_usage)
      data["usageMetadata"] = {{"promptTokenCount", reply.input + reply.cache_read},
                               {"cachedContentTokenCount", reply.cache_read},
                               {"candidatesTokenCount", reply.output - reply.reasoning},
                               {"thoughtsTokenCount", reply.reasoning}};
    text += data_only(data);
  };
  if (!reply.thinking.empty()) chunk(Json::array({{{"text", reply.thinking}, {"thought", true}}}), "", true);
  for (const std::string& half : halves(reply.text))
    if (!half.empty()) chunk(Json::array({{{"text", half}}}), "", true);
  const std::string signature = gemini_signature(body, body.at("contents").size());
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    const FakeCall& call = reply.calls[i];
    Json function{{"name", call.name}, {"args", Json::parse(call.arguments)}};
    if (!call.id.empty()) function["id"] = call.id;
    Json part{{"functionCall", function}};
    if (i == 0) part["thoughtSignature"] = signature;
    chunk(Json::array({part}), "", true);
  }
  chunk(Json::array({{{"text", ""}}}), reply.ending.empty() ? "STOP" : reply.ending, true);
  return text;
}

}  // namespace

std::string stream_of(Api api, const FakeReply& reply, const HeardRequest& request) {
  const Json body = Json::parse(request.body);
  switch (api) {
    case Api::anthropic:
      return anthropic_stream(reply, body);
    case Api::responses:
      return responses_stream(reply, body);
    case Api::completions:
      return completions_stream(reply);
    case Api::gemini:
      return gemini_stream(reply, body);
  }
  return "";
}

Answer answer_with(Api api, const FakeReply& reply, const HeardRequest& request) {
  if (const std::string why = objection(api, request); !why.empty())
    return error_answer(api, 400, api == Api::gemini ? "INVALID_ARGUMENT" : "invalid_request_error", why);
  Answer answer;
  answer.headers.emplace_back(api == Api::anthropic ? "request-id" : "x-request-id",
                              "req_" + std::to_string(request.number));
  answer.body = stream_of(api, reply, request);
  return answer;
}

Answer error_answer(Api api, int status, const std::string& type, const std::string& message) {
  Json error;
  if (api == Api::anthropic)
    error = {{"type", "error"}, {"error", {{"type", type}, {"message", message}}}, {"request_id", "req_e"}};
  else if (api == Api::gemini)
    error = {{"error", {{"code", status}, {"message", message}, {"status", type}}}};
  else
    error = {{"error", {{"message", message}, {"type", type}, {"param", nullptr}, {"code", type}}}};
  return {.status = status, .headers = {{"content-type", "application/json"}}, .body = error.dump()};
}

std::string error_event(Api api, const std::string& type, const std::string& message) {
  switch (api) {
    case Api::anthropic:
      return event({{"type", "error"}, {"error", {{"type", type}, {"message", message}}}});
    case Api::responses:
      return event({{"type", "error"}, {"code", type}, {"message", message}, {"param", nullptr}});
    case Api::completions:
      return data_only({{"error", {{"code", type}, {"message", message}}}, {"choices", Json::array()}});
    case Api::gemini:
      return data_only({{"error", {{"code", 503}, {"status", type}, {"message", message}}}});
  }
  return "";
}

}  // namespace onelaunch::fakes
