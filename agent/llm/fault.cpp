#include "agent/llm/fault.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/llm/json_text.h"

namespace onelaunch::llm {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMessageBytes = 1000;
constexpr double kWaitMax = 2147483.0;  // larger ones are a mistake of the server

struct Words {
  std::string all;      // codes and types, separated by spaces, in lower case
  std::string message;  // for a human
  int status = 0;       // when the body names one
  std::optional<double> wait_s;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& at(const Json& object, const char* key) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found != object.end() ? *found : none;
}

void add(Words& words, const std::string& word) {
  if (!word.empty()) words.all += " " + lower(word);
}

// Google's list of typed details.
void add_detail(Words& words, const Json& detail) {
  add(words, text_at(detail, "reason"));
  for (const Json& violation : at(detail, "violations"))
    if (text_at(violation, "quotaId").find("PerDay") != std::string::npos) add(words, "quota_per_day");
  const std::string delay = text_at(detail, "retryDelay");  // "34s", "0.5s"
  if (!delay.empty() && delay.back() == 's') words.wait_s = std::strtod(delay.c_str(), nullptr);
}

Words words_of(const Json& body) {
  const Json& outer = body.is_array() && !body.empty() ? body.front() : body;
  const Json& error = at(outer, "error").is_null() ? outer : at(outer, "error");
  Words words;
  if (error.is_string()) {
    words.message = error.get<std::string>();
    return words;
  }
  for (const char* key : {"type", "code", "status", "error_code"}) add(words, text_at(error, key));
  const Json& code = at(error, "code");
  if (code.is_number_integer())
    words.status = static_cast<int>(std::clamp<std::int64_t>(code.get<std::int64_t>(), 0, 999));
  const Json& details = at(error, "details");
  add(words, text_at(details, "error_code"));
  if (details.is_array())
    for (const Json& detail : details) add_detail(words, detail);
  words.message = text_at(error, "message");
  if (words.message.empty()) words.message = text_at(error, "detail");
  if (const std::string raw = text_at(at(error, "metadata"), "raw"); !raw.empty()) words.message += " (" + raw + ")";
  return words;
}

using Row = std::pair<const char*, Fault::Kind>;
using Kind = Fault::Kind;

// First match wins.
constexpr std::array kByWord = {
    Row{"enforced_spend_limit_reached", Kind::quota},
    Row{"contract_spend_limit_reached", Kind::quota},
    Row{"insufficient_quota", Kind::quota},
    Row{"billing", Kind::quota},
    Row{"insufficient_balance", Kind::quota},
    Row{"payment_required", Kind::quota},
    Row{"quota_per_day", Kind::quota},
    Row{"usage_limit_reached", Kind::quota},
    Row{"context_length_exceeded", Kind::context_full},
    Row{"exceed_context_size", Kind::context_full},
    Row{"context_window_exceeded", Kind::context_full},
    Row{"request_too_large", Kind::context_full},
    Row{"api_key_invalid", Kind::authentication},
    Row{"invalid_api_key", Kind::authentication},
    Row{"authentication", Kind::authentication},
    Row{"unauthenticated", Kind::authentication},
    Row{"permission", Kind::authentication},
    Row{"content_filter", Kind::refused},
    Row{"content_policy", Kind::refused},
    Row{"_policy", Kind::refused},
    Row{"invalid_prompt", Kind::refused},
    Row{"overloaded", Kind::transient},
    Row{"rate_limit", Kind::transient},
    Row{"resource_exhausted", Kind::transient},
    Row{"server_error", Kind::transient},
    Row{"api_error", Kind::transient},
    Row{"timeout", Kind::transient},
    Row{"conflict", Kind::transient},
    Row{"compaction_unavailable", Kind::transient},
    Row{"not_found", Kind::bad_request},
    Row{"invalid_argument", Kind::bad_request},
    Row{"invalid_request", Kind::bad_request},
};

// Sentences of servers that have no code for it.
constexpr std::array kByMessage = {
    Row{"prompt is too long", Kind::context_full},  Row{"maximum context length", Kind::context_full},
    Row{"context size", Kind::context_full},        Row{"context length", Kind::context_full},
    Row{"context window", Kind::context_full},      Row{"exceeds the maximum number of tokens", Kind::context_full},
    Row{"credit balance is too low", Kind::quota},  Row{"reached your specified api usage limits", Kind::quota},
    Row{"api key not valid", Kind::authentication}, Row{"incorrect api key", Kind::authentication},
};

template <std::size_t N>
std::optional<Kind> found_in(const std::array<Row, N>& table, const std::string& text) {
  for (const auto& [word, kind] : table)
    if (text.find(word) != std::string::npos) return kind;
  return std::nullopt;
}

Kind by_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return Kind::authentication;
    case 402:
      return Kind::quota;
    case 413:
      return Kind::context_full;
    case 408:
    case 409:
    case 425:
    case 429:
      return Kind::transient;
    default:
      return status >= 500 ? Kind::transient : Kind::bad_request;
  }
}

Kind kind_of(int status, const Words& words) {
  if (status == 401 || status == 402 || status == 403 || status == 413) return by_status(status);
  const auto word = found_in(kByWord, words.all);
  const auto sentence = found_in(kByMessage, lower(words.message));
  // Whatever a 5xx says, waiting may help; but some servers fail like that on a prompt that is too long.
  if (status >= 500) return sentence == Kind::context_full ? Kind::context_full : Kind::transient;
  // A full context is a plain "invalid request" to most; a used-up plan is a plain "rate limit" to some.
  if (sentence && (!word || *word == Kind::bad_request || (*word == Kind::transient && *sentence == Kind::quota)))
    return *sentence;
  if (status == 429) return word == Kind::quota ? Kind::quota : Kind::transient;
  if (word) return *word;
  return status == 0 ? Kind::transient : by_status(status);
}

std::string described(int status, const Words& words, std::string_view body) {
  std::string text = status ? "HTTP " + std::to_string(status) : "error in the stream";
  if (!words.all.empty()) text += words.all;
  const std::string message = words.message.empty() ? valid_utf8(body.substr(0, kMessageBytes)) : words.message;
  if (!message.empty()) text += ": " + valid_utf8(message.substr(0, kMessageBytes));
  return text;
}

void obey_header(Fault& fault, const HttpHeaders& headers) {
  const auto found = headers.find("x-should-retry");
  if (found == headers.end()) return;
  if (found->second == "true") fault.kind = Kind::transient;
  fault.last = found->second == "false";
}

}  // namespace

Fault fault_of(const HttpAnswer& answer, std::string_view body) {
  const Json json = Json::parse(body.begin(), body.end(), nullptr, false);
  const Words words = words_of(json.is_discarded() ? Json() : json);
  Fault fault{kind_of(answer.status, words), described(answer.status, words, body), answer.status};
  fault.wait_s = asked_wait_s(answer.headers);
  if (!fault.wait_s) fault.wait_s = words.wait_s;
  if (answer.status >= 300 && answer.status < 400) {
    const auto to = answer.headers.find("location");
    fault.what = "HTTP " + std::to_string(answer.status) + ": redirected" +
                 (to == answer.headers.end() ? "" : " to " + valid_utf8(to->second)) +
                 "; not followed, it would carry the key";
  }
  obey_header(fault, answer.headers);
  return fault;
}

Fault fault_of_event(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  const Words words = words_of(json.is_discarded() ? Json() : json);
  return {kind_of(words.status, words), described(words.status, words, text), words.status, words.wait_s};
}

std::optional<double> asked_wait_s(const HttpHeaders& headers) {
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto found = headers.find(name);
    if (found == headers.end()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (end != found->second.c_str() && *end == 0) return value;
    const std::time_t date = curl_getdate(found->second.c_str(), nullptr);
    if (date < 0) return std::nullopt;
    return std::difftime(date, std::time(nullptr));
  };
  std::optional<double> wait = number("retry-after-ms");
  if (wait) *wait /= 1000;
  if (!wait) wait = number("retry-after");
  return wait && *wait > 0 && *wait <= kWaitMax ? wait : std::nullopt;
}

}  // namespace onelaunch::llm
