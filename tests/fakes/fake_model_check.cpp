#include "tests/fakes/fake_model_check.h"

#include <set>
#include <vector>

#include "base/sha256.h"
#include "tests/fakes/fake_model.h"

namespace onelaunch::fakes {
namespace {

const Json kNone;

const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string word(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

Json without_cache_marks(const Json& json) {
  if (!json.is_structured()) return json;
  Json result = json.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array())
      result.push_back(without_cache_marks(value));
    else if (key != "cache_control")
      result[key] = without_cache_marks(value);
  }
  return result;
}

std::string first_of(const Json& array, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count && i < array.size(); ++i) text += without_cache_marks(array[i]).dump();
  return text;
}

std::string sealed(const std::string& kind, const std::string& text) { return kind + sha256_hex(text).substr(0, 32); }

std::size_t cache_marks(const Json& json) {
  std::size_t count = 0;
  if (json.is_structured())
    for (const auto& [key, value] : json.items())
      count += (json.is_object() && key == "cache_control") + cache_marks(value);
  return count;
}

std::string at_block(std::size_t message, std::size_t block) {
  return "messages." + std::to_string(message) + ".content." + std::to_string(block);
}

using Ids = std::multiset<std::string>;

// The blocks of one message: fills the calls it makes and the results it brings.
std::string anthropic_blocks_objection(const Json& body, std::size_t index, Ids& calls, Ids& results) {
  const Json& message = body["messages"][index];
  const Json& content = member(message, "content");
  const bool assistant = word(message, "role") == "assistant";
  if (!content.is_array() || content.empty()) return "messages." + std::to_string(index) + ": content is empty";
  bool text_seen = false;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const std::string type = word(content[i], "type");
    if (type == "text" && word(content[i], "text").empty()) return at_block(index, i) + ": text must be non-empty";
    if (type == "thinking" &&
        word(content[i], "signature") != anthropic_signature(body, index, i, word(content[i], "thinking")))
      return at_block(index, i) +
             ": Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
    if (type == "tool_use" && !member(content[i], "input").is_object())
      return at_block(index, i) + ": input is no object";
    if (type == "tool_use") calls.insert(word(content[i], "id"));
    if (type == "tool_result") results.insert(word(content[i], "tool_use_id"));
    if (type == "tool_result" && text_seen) return at_block(index, i) + ": tool_result behind text";
    text_seen = text_seen || type == "text";
    if ((type == "thinking" || type == "tool_use") != assistant && type != "text")
      return at_block(index, i) + ": wrong role";
  }
  if (assistant && word(content.back(), "type") == "thinking")
    return at_block(index, content.size() - 1) + ": thinking is last";
  return "";
}

}  // namespace

std::string anthropic_signature(const Json& body, std::size_t message, std::size_t block, const std::string& thinking) {
  std::string text =
      without_cache_marks(member(body, "system")).dump() + without_cache_marks(member(body, "tools")).dump();
  const Json& messages = member(body, "messages");
  text += first_of(messages, message);
  if (message < messages.size()) text += first_of(member(messages[message], "content"), block);
  return sealed("sig_", text + thinking);
}

std::string responses_seal(const Json& body, std::size_t item) {
  return sealed("enc_",
                word(body, "instructions") + member(body, "tools").dump() + first_of(member(body, "input"), item));
}

std::string gemini_signature(const Json& body, std::size_t content) {
  return sealed("gsig_", member(body, "systemInstruction").dump() + member(body, "tools").dump() +
                             first_of(member(body, "contents"), content));
}

std::string anthropic_objection(const Json& body) {
  if (member(body, "stream") != true) return "stream must be true";
  if (!member(body, "max_tokens").is_number_unsigned()) return "max_tokens is missing";
  for (const char* banned : {"temperature", "top_p", "top_k"})
    if (body.contains(banned)) return std::string(banned) + " is not allowed";
  if (cache_marks(body) > 4) return "more than 4 cache_control blocks";
  const Json& messages = member(body, "messages");
  if (!messages.is_array() || messages.empty()) return "messages is empty";
  if (word(messages.front(), "role") != "user") return "the first message must be the user's";
  if (word(messages.back(), "role") != "user") return "prefilling the assistant's turn is not supported";
  Ids awaited;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Ids calls, results;
    if (const std::string why = anthropic_blocks_objection(body, i, calls, results); !why.empty()) return why;
    if (results != awaited) return "messages." + std::to_string(i) + ": tool_use and tool_result do not match";
    awaited = calls;
  }
  return "";
}

std::string responses_objection(const Json& body) {
  if (member(body, "stream") != true || member(body, "store") != false) return "stream and store are wrong";
  const Json& input = member(body, "input");
  if (!input.is_array() || input.empty()) return "input is empty";
  Ids awaited;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::string type = word(input[i], "type");
    const std::string next = i + 1 < input.size() ? word(input[i + 1], "type") : "";
    if (type == "reasoning" && word(input[i], "encrypted_content") != responses_seal(body, i))
      return "input." + std::to_string(i) + ": the encrypted content could not be verified";
    if (type == "reasoning" && (next.empty() || (next == "message" && word(input[i + 1], "role") == "user")))
      return "input." + std::to_string(i) + ": reasoning was provided without its required following item";
    if (type == "function_call") awaited.insert(word(input[i], "call_id"));
    if (type == "function_call_output" && awaited.erase(word(input[i], "call_id")) != 1)
      return "No tool call found for " + word(input[i], "call_id");
    if (type == "message" && !awaited.empty()) return "No tool output found for " + *awaited.begin();
  }
  return awaited.empty() ? "" : "No tool output found for " + *awaited.begin();
}

std::string completions_objection(const Json& body) {
  if (member(body, "stream") != true) return "stream must be true";
  const Json& messages = member(body, "messages");
  if (!messages.is_array() || messages.empty()) return "messages is empty";
  std::string before;
  Ids awaited;
  for (const Json& message : messages) {
    const std::string role = word(message, "role");
    if (role == "tool" && awaited.erase(word(message, "tool_call_id")) != 1) return "a tool message without its call";
    if (role != "tool" && !awaited.empty()) return "tool_call_ids did not have response messages";
    if (role == "user" && before == "tool") return "Unexpected role 'user' after role 'tool'";
    if (role == "system" && !before.empty()) return "the system message must be first";
    if (role == "assistant" && !message.contains("tool_calls") && word(message, "content").empty())
      return "empty message";
    for (const Json& call : member(message, "tool_calls")) {
      if (!Json::accept(word(call.at("function"), "arguments"))) return "arguments are no JSON";
      if (word(call, "id").empty() || awaited.contains(word(call, "id"))) return "bad call id";
      awaited.insert(word(call, "id"));
    }
    before = role;
  }
  return awaited.empty() ? "" : "tool_call_ids did not have response messages";
}

std::string gemini_objection(const Json& body) {
  const Json& contents = member(body, "contents");
  if (!contents.is_array() || contents.empty()) return "contents is empty";
  std::vector<std::pair<std::string, std::string>> awaited;  // name, id
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const Json& parts = member(contents[i], "parts");
    if (!parts.is_array() || parts.empty()) return "parts is empty";
    std::vector<std::pair<std::string, std::string>> calls, results;
    for (const Json& part : parts) {
      if (part.contains("text") && word(part, "text").empty() && !part.contains("thoughtSignature"))
        return "empty text parameter";
      const Json& call = member(part, "functionCall");
      const Json& result = member(part, "functionResponse");
      if (call.is_object() && calls.empty() && word(part, "thoughtSignature") != gemini_signature(body, i))
        return "Function call is missing a thought_signature";
      if (call.is_object()) calls.emplace_back(word(call, "name"), word(call, "id"));
      if (result.is_object()) results.emplace_back(word(result, "name"), word(result, "id"));
      if (result.is_object() && !member(result, "response").is_object()) return "response is no object";
    }
    if (results != awaited) return "the function response parts do not match the function call parts";
    awaited = calls;
  }
  return word(contents.back(), "role") == "user" ? "" : "the last content must be the user's";
}

std::string objection(Api api, const HeardRequest& request) {
  const Json body = Json::parse(request.body, nullptr, false);
  if (body.is_discarded()) return "the body is no JSON";
  const auto has = [&](const char* name) { return request.headers.contains(name); };
  if (request.method != "POST") return "not a POST";
  if (has("expect")) return "Expect is not supported";
  if (!has("content-type") || request.headers.at("content-type") != "application/json") return "wrong content-type";
  switch (api) {
    case Api::anthropic: {
      if (has("x-api-key") == has("authorization")) return "exactly one way to authenticate";
      const std::string version = has("anthropic-version") ? request.headers.at("anthropic-version") : "";
      if (version != "2023-06-01" && version != "2026-10-21") return "unknown anthropic-version";
      if (!request.target.ends_with("/v1/messages")) return "no such path";
      return anthropic_objection(body);
    }
    case Api::responses:
      return request.target.ends_with("/v1/responses") ? responses_objection(body) : "no such path";
    case Api::completions:
      return request.target.ends_with("/chat/completions") ? completions_objection(body) : "no such path";
    case Api::gemini:
      return request.target.ends_with(":streamGenerateContent?alt=sse") ? gemini_objection(body) : "no such path";
  }
  return "";
}

}  // namespace onelaunch::fakes
