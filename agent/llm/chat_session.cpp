#include "agent/llm/chat_session.h"

#include <algorithm>
#include <utility>

#include "agent/llm/json_text.h"
#include "agent/llm/surrogates.h"
#include "base/check.h"
#include "base/sha256.h"

namespace onelaunch::llm {
namespace {

constexpr std::size_t kErrorBodyBytes = 64u << 10;
constexpr std::size_t kSecretBytes =
    8;  // what is shorter ("none", "ollama") is no secret, and hiding it would garble text
constexpr std::uint64_t kBytesPerToken = 4;

std::string header(const HttpHeaders& headers, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = headers.find(name); found != headers.end()) return valid_utf8(found->second);
  return "";
}

// What a request's head means for the history: everything but how much may be answered, and how hard to think.
std::string identity_of(const ModelName& model, const ChatOptions& options) {
  std::string text = model.provider + "\n" + model.model + "\n" + json_string(options.system);
  for (const ToolSpec& tool : options.tools)
    text += "\n" + json_string(tool.name) + json_string(tool.description) + json_string(tool.schema);
  return sha256_hex(text);
}

HttpLimits http_limits(const CallLimits& limits) {
  return {limits.connect, limits.first_byte, limits.idle, limits.linger, limits.reply_bytes_max};
}

CallFailure::Kind failure_kind(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::authentication:
      return CallFailure::Kind::authentication;
    case Fault::Kind::quota:
      return CallFailure::Kind::quota;
    case Fault::Kind::context_full:
      return CallFailure::Kind::context_full;
    case Fault::Kind::bad_request:
      return CallFailure::Kind::bad_request;
    case Fault::Kind::transient:
    case Fault::Kind::malformed:
    case Fault::Kind::refused:
      break;
  }
  return CallFailure::Kind::outage;
}

bool may_pass(Fault::Kind kind) { return kind == Fault::Kind::transient || kind == Fault::Kind::malformed; }

// Counts the faults of one send().
struct Patience {
  const CallLimits& limits;
  int retries = 0, malformed = 0, unconnected = 0;

  // Why there is no further try; empty when there is.
  std::string gives_up(const Fault& fault, bool was_connected) {
    malformed += fault.kind == Fault::Kind::malformed;
    unconnected = was_connected ? 0 : unconnected + 1;
    if (fault.last) return "the provider says not to try again";
    if (malformed > limits.retries_max_malformed) return "tried " + std::to_string(malformed) + " times";
    if (unconnected > limits.retries_max_unconnected) return "the server never answered";
    if (++retries > limits.retries_max) return "tried " + std::to_string(retries) + " times";
    return "";
  }
};

}  // namespace

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::tool_calls:
      return "tool_calls";
    case Ending::finished:
      return "finished";
    case Ending::cut_off:
      return "cut_off";
    case Ending::paused:
      return "paused";
    case Ending::refused:
      return "refused";
    case Ending::context_full:
      return "context_full";
  }
  return "?";
}

const char* name_of(CallFailure::Kind kind) {
  switch (kind) {
    case CallFailure::Kind::authentication:
      return "authentication";
    case CallFailure::Kind::quota:
      return "quota";
    case CallFailure::Kind::bad_request:
      return "bad_request";
    case CallFailure::Kind::context_full:
      return "context_full";
    case CallFailure::Kind::outage:
      return "outage";
    case CallFailure::Kind::deadline:
      return "deadline";
    case CallFailure::Kind::stopped:
      return "stopped";
  }
  return "?";
}

ChatSession::ChatSession(Parts parts, const Clock& clock)
    : parts_(std::move(parts)),
      clock_(clock),
      history_(identity_of(parts_.model, parts_.options)),
      backoff_(parts_.options.limits, parts_.options.jitter_seed) {}

void ChatSession::say(const std::string& text) {
  if (history_.awaits_results())
    answer({}, text);
  else if (!text.empty())
    history_.append(parts_.dialect->user_entry(text));
}

void ChatSession::answer(const std::vector<ToolOutput>& outputs, const std::string& after) {
  OL_CHECK(history_.awaits_results(), "results without calls");
  history_.append(parts_.dialect->answer_entries(history_.settle(outputs), after));
}

std::string ChatSession::next_request() const {
  return parts_.dialect->head() + history_.text() + parts_.dialect->tail();
}

// One attempt's reader and what it has read.
struct ChatSession::Attempt {
  std::unique_ptr<TurnReader> reader;
  SseParser events;
  std::size_t bytes_max;
  std::string plain;  // a body that is no stream: an error, or a server that does not stream
  Appetite appetite = Appetite::more;
  std::optional<Fault> fault;

  static bool is_stream(const HttpAnswer& answer) {
    const auto type = answer.headers.find("content-type");
    return answer.status / 100 == 2 && (type == answer.headers.end() || type->second.find("json") == std::string::npos);
  }

  void take(SseEvent event) {
    if (appetite == Appetite::spoilt) return;
    // What comes after a complete reply may be torn: it is not waited for.
    const bool complete = appetite != Appetite::more;
    if (complete && event.data != "[DONE]" && !is_json(event.data)) return;
    appetite = reader->read(event);
  }

  Appetite read(const HttpAnswer& answer, std::string_view bytes) {
    if (!is_stream(answer)) {
      const std::size_t room = answer.status / 100 == 2 ? bytes_max : kErrorBodyBytes;
      plain.append(bytes.substr(0, room - std::min(room, plain.size())));
      return Appetite::more;
    }
    if (!events.feed(bytes, [&](SseEvent event) { take(std::move(event)); })) {
      fault = Fault{Fault::Kind::malformed, "an event is larger than its limit"};
      appetite = Appetite::spoilt;
    }
    return appetite;
  }

  TurnResult finish(const HttpAnswer& answer) {
    const auto sink = [&](SseEvent event) { take(std::move(event)); };
    if (fault) return tl::unexpected<Fault>(*fault);
    if (!is_stream(answer))
      take({"", plain});
    else if (answer.end == HttpEnd::complete)
      events.finish(sink);
    return reader->finish();
  }
};

ChatSession::AttemptResult ChatSession::attempt(const std::string& body, Deadline deadline) {
  const CallLimits& limits = parts_.options.limits;
  const Dialect& dialect = *parts_.dialect;
  Attempt attempt{dialect.reader(history_.turns()), SseParser(limits.event_bytes_max), limits.event_bytes_max};
  const Seconds begun = clock_.now();
  const HttpAnswer answer =
      parts_.http->post({dialect.url(), dialect.headers(), body}, http_limits(limits), deadline,
                        [&](const HttpAnswer& so_far, std::string_view bytes) { return attempt.read(so_far, bytes); });
  was_connected_ = was_connected_ || answer.status != 0;
  AttemptResult result = judged(attempt, answer, body);
  if (auto* reply = std::get_if<Reply>(&result)) reply->seconds = (clock_.now() - begun).count();
  if (auto* fault = std::get_if<Fault>(&result)) {
    fault->what = without_key(std::move(fault->what));
    if (fault->status == 0) fault->status = answer.status;
  }
  return result;
}

ChatSession::AttemptResult ChatSession::judged(Attempt& attempt, const HttpAnswer& answer, const std::string& body) {
  using Kind = CallFailure::Kind;
  switch (answer.end) {
    case HttpEnd::stopped:
      return CallFailure{Kind::stopped, "stopped", answer.status};
    case HttpEnd::deadline:
      return CallFailure{Kind::deadline, "the deadline passed during the call", answer.status};
    case HttpEnd::unusable:
      return CallFailure{Kind::bad_request, "cannot call the server: " + without_key(answer.why)};
    case HttpEnd::no_connection:
      return Fault{Fault::Kind::transient, "no connection: " + answer.why};
    case HttpEnd::too_large:
      return Fault{Fault::Kind::malformed, answer.why, answer.status};
    case HttpEnd::complete:
    case HttpEnd::enough:
    case HttpEnd::broken:
    case HttpEnd::silent:
      break;
  }
  if (answer.status == 0) return Fault{Fault::Kind::transient, answer.why};
  if (answer.status / 100 != 2) return fault_of(answer, attempt.plain);
  TurnResult turn = attempt.finish(answer);
  if (turn) return reply_of(std::move(*turn), answer, body);
  Fault fault = turn.error();
  if (fault.kind == Fault::Kind::transient && !answer.why.empty()) fault.what += " (" + answer.why + ")";
  return fault;
}

Reply ChatSession::reply_of(Turn turn, const HttpAnswer& answer, const std::string& body) {
  if (!turn.usage.known) {
    turn.usage.input = body.size() / kBytesPerToken;
    turn.usage.output = (turn.raw.size() + turn.reasoning.size()) / kBytesPerToken;
  }
  // A server may say the key back to us; it must not get into a trace.
  for (std::string* text : {&turn.detail, &turn.text, &turn.reasoning, &turn.model, &turn.raw, &turn.kept})
    *text = without_key(with_halves_joined(std::move(*text)));
  for (ToolCall& call : turn.calls) call.arguments = without_key(with_halves_joined(std::move(call.arguments)));
  history_.keep(turn);
  Reply reply;
  reply.ending = turn.ending;
  reply.detail = std::move(turn.detail);
  reply.text = std::move(turn.text);
  reply.reasoning = std::move(turn.reasoning);
  reply.calls = std::move(turn.calls);
  reply.usage = turn.usage;
  const std::string& answered = turn.model.empty() ? parts_.model.model : turn.model;
  reply.cost_usd = turn.cost_usd;
  if (!reply.cost_usd) reply.cost_usd = parts_.prices.cost_usd(parts_.model.provider, answered, turn.usage);
  reply.model = turn.model;
  reply.request_id = without_key(header(answer.headers, {"request-id", "x-request-id", "x-generation-id"}));
  reply.raw = std::move(turn.raw);
  return reply;
}

SendResult ChatSession::send(Deadline deadline, const std::function<void(const Retry&)>& on_retry) {
  const auto failed = [](CallFailure::Kind kind, std::string what, int status = 0) {
    return tl::unexpected<CallFailure>(CallFailure{kind, std::move(what), status});
  };
  const std::string body = next_request();
  Patience patience{parts_.options.limits};
  for (;;) {
    if (parts_.http->stopped()) return failed(CallFailure::Kind::stopped, "stopped");
    if (deadline.passed(clock_)) return failed(CallFailure::Kind::deadline, "the deadline passed before the call");
    AttemptResult result = attempt(body, deadline);
    if (auto* reply = std::get_if<Reply>(&result)) return std::move(*reply);
    if (auto* failure = std::get_if<CallFailure>(&result)) return tl::unexpected<CallFailure>(std::move(*failure));
    const Fault& fault = std::get<Fault>(result);
    if (fault.kind == Fault::Kind::refused) return Reply{.ending = Ending::refused, .detail = fault.what};
    if (!may_pass(fault.kind)) return failed(failure_kind(fault.kind), fault.what, fault.status);
    if (const std::string why = patience.gives_up(fault, was_connected_); !why.empty())
      return failed(CallFailure::Kind::outage, fault.what + "; " + why, fault.status);
    const Seconds wait = backoff_.wait(patience.retries, fault.wait_s);
    if (wait >= deadline.left(clock_))
      return failed(CallFailure::Kind::outage, fault.what + "; no time to wait and try again", fault.status);
    const Deadline resume = Deadline::after(clock_, wait);
    if (on_retry) on_retry({patience.retries, wait.count(), fault.what});
    if (!parts_.http->wait(resume)) return failed(CallFailure::Kind::stopped, "stopped");
  }
}

std::string ChatSession::without_key(std::string text) const {
  if (parts_.key.size() < kSecretBytes) return text;
  for (std::size_t at; (at = text.find(parts_.key)) != std::string::npos;) text.replace(at, parts_.key.size(), "[key]");
  return text;
}

}  // namespace onelaunch::llm
