#pragma once
// One append-only conversation with one language model, whoever serves it. What was said is never edited: a provider's
// prompt cache and its signed thinking blocks both need every request to begin with the bytes of the one before.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace onelaunch::llm {

struct ToolSpec {
  std::string name, description;
  std::string schema;  // JSON text of an object schema, sent byte for byte
};

struct ToolCall {
  std::string id, name;
  std::string arguments;  // JSON text, "{}" when there are none; when the model wrote broken JSON, what it wrote
};

struct ToolOutput {
  std::string call_id, text;
  bool error = false;
};

// Tokens of one reply; the prompt is input + cache_read + cache_write_5m + cache_write_1h.
struct Usage {
  std::uint64_t input = 0;  // not from the cache
  std::uint64_t cache_read = 0, cache_write_5m = 0, cache_write_1h = 0;
  std::uint64_t output = 0;     // with reasoning
  std::uint64_t reasoning = 0;  // the part of output, where the provider tells
  bool known = false;           // false: the provider said nothing and these are estimates, four bytes to a token
};

enum class Ending {
  tool_calls,    // wants the results of Reply::calls
  finished,      // said what it had to say
  cut_off,       // hit max_output_tokens; its calls, if any, are dropped
  paused,        // the provider asks to be sent the same history again: send(), nothing said between
  refused,       // declined, by the model or by a filter; leaves nothing in the history
  context_full,  // prompt and reply filled the model's window; its calls, if any, are dropped
};
const char* name_of(Ending ending);

struct Reply {
  Ending ending = Ending::finished;
  std::string detail;           // of a refusal: its category and explanation, as far as told
  std::string text, reasoning;  // reasoning is the provider's summary, often empty
  std::vector<ToolCall> calls;  // only when ending is tool_calls; ids are unique within the conversation
  Usage usage;
  std::optional<double> cost_usd;  // unset: unpriced; as sure as the usage
  std::string model, request_id;   // as answered; may be empty
  std::string raw;                 // JSON text of the assistant's turn as received
  double seconds = 0;              // of the attempt that succeeded
};

// Why a call gave no reply.
struct CallFailure {
  enum class Kind {
    authentication,
    quota,         // money or plan used up: waiting does not help
    bad_request,   // the provider will never take this request
    context_full,  // the history is too long for the model
    outage,        // retries used up, or the next would come after the deadline
    deadline,      // passed while the provider was answering
    stopped,
  };
  Kind kind = Kind::outage;
  std::string what;  // for a human; never holds a key
  int status = 0;    // HTTP status of the last attempt, 0: none
};
const char* name_of(CallFailure::Kind kind);

using SendResult = tl::expected<Reply, CallFailure>;

// Told before each wait.
struct Retry {
  int number = 0;  // from 1
  double wait_s = 0;
  std::string why;
};

class Chat {
 public:
  virtual ~Chat() = default;
  // Appends a user message. Calls of the last reply that have no results are answered as not run.
  virtual void say(const std::string& text) = 0;
  // The results of the last reply's calls, in any order; a missing one is answered as not run, an unknown id is a bug.
  // `after`: text behind them (time left ...), may be empty.
  virtual void answer(const std::vector<ToolOutput>& outputs, const std::string& after) = 0;
  // The body that send() would post now.
  virtual std::string next_request() const = 0;
  // Blocks until the reply is complete, the deadline passes or stop() was called. Faults of the provider are retried.
  // Appends the turn to the history only when it is complete.
  virtual SendResult send(Deadline deadline, const std::function<void(const Retry&)>& on_retry) = 0;
  // From any thread; final: every send() from now on fails with `stopped`.
  virtual void stop() = 0;
  // The history as one JSON text. Holds neither key nor system prompt.
  virtual std::string save() const = 0;
  // Into a chat to which nothing was said yet. Fails (invalid_input) when `saved` is broken, or was made with another
  // model, system prompt or other tools: the bytes would differ.
  virtual Result<void> restore(const std::string& saved) = 0;
};

struct ModelName {
  std::string provider;  // anthropic, openai, gemini, compat
  std::string model;
  std::string base_url;  // only compat; empty: the provider's own or the environment's
};
// "anthropic:MODEL", "openai:MODEL", "gemini:MODEL", "compat:MODEL@URL". Fails (invalid_input) and says the forms.
Result<ModelName> parse_model_name(const std::string& agent);

struct Credentials {
  std::string key;       // empty: none is sent (a local server)
  bool bearer = false;   // anthropic only: the key is a token for the Authorization header
  std::string base_url;  // where to, without the API's own path
};
// From key_file when given, else from ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), OPENAI_API_KEY, GEMINI_API_KEY (or
// GOOGLE_API_KEY), ONELAUNCH_API_KEY for compat (which may do without); *_BASE_URL as well. A key file holds the key
// alone or lines NAME=VALUE. Fails (invalid_input) and says which variable to set.
Result<Credentials> find_credentials(const ModelName& model, const std::string& key_file);

// All waits on the clock given to open_chat.
struct CallLimits {
  Seconds connect{15};
  Seconds first_byte{600};  // some models think for minutes before they send anything
  Seconds idle{600};        // between any two bytes, keep-alives included
  Seconds linger{2};        // after a complete reply, for the provider to close
  Seconds backoff_first{0.5}, backoff_max{60};
  int retries_max = 500;
  int retries_max_malformed = 3;             // the provider says that the model's turn was broken
  int retries_max_unconnected = 8;           // while the server has never answered: the address is likely wrong
  std::size_t reply_bytes_max = 256u << 20;  // as sent: streams repeat themselves
  std::size_t event_bytes_max = 64u << 20;
};

struct ChatOptions {
  std::string system;
  std::vector<ToolSpec> tools;
  std::uint64_t max_output_tokens = 32000;
  std::string effort;             // as the provider names it; empty: its default
  std::string anthropic_version;  // empty: 2026-10-21 at Anthropic itself, 2023-06-01 elsewhere
  std::string cache_key;          // openai only: requests that share it are routed to the same cache
  CallLimits limits;
  std::uint64_t jitter_seed = 0;  // 0: random
};
// The clock outlives the chat. Fails (invalid_input) for a key that cannot be a header, a schema that is no JSON
// object.
Result<std::unique_ptr<Chat>> open_chat(const ModelName& model, const Credentials& credentials, ChatOptions options,
                                        const Clock& clock);

}  // namespace onelaunch::llm
