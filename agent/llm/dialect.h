#pragma once
// How one provider's API is spoken: request bodies out, events in. Pure text; the network is chat_session's.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/llm/chat.h"
#include "agent/llm/fault.h"
#include "agent/llm/http.h"
#include "agent/llm/sse.h"

namespace onelaunch::llm {

// What a finished stream amounted to.
struct Turn {
  Ending ending = Ending::finished;
  std::string detail, text, reasoning;
  std::vector<ToolCall> calls;  // with the provider's ids, which may be empty or repeat themselves
  Usage usage;
  std::optional<double> cost_usd;  // only when the provider says it
  std::string model;
  std::string raw;   // as received
  std::string kept;  // what goes into the history: elements of its array; may be empty
};
using TurnResult = tl::expected<Turn, Fault>;

// Reads one reply. Never throws, whatever the bytes are.
class TurnReader {
 public:
  virtual ~TurnReader() = default;
  virtual Appetite read(const SseEvent& event) = 0;
  // After the last event. A Fault for what was spoilt, and for what is not complete.
  virtual TurnResult finish() = 0;
};

// A call of the last reply that waits for its result.
struct PendingCall {
  std::string id;       // ours: unique within the conversation
  std::string wire_id;  // the provider's, may be empty
  std::string name;
};

struct Answered {
  PendingCall call;
  ToolOutput output;
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string url() const = 0;
  virtual std::vector<std::string> headers() const = 0;  // with the key
  // The body is head + history + tail; head and tail never change.
  virtual std::string head() const = 0;
  virtual std::string tail() const = 0;
  // Elements of the history.
  virtual std::string user_entry(const std::string& text) const = 0;
  virtual std::string answer_entries(const std::vector<Answered>& answers, const std::string& after) const = 0;
  // `turn`: how many replies there were before, for ids that a server leaves out.
  virtual std::unique_ptr<TurnReader> reader(int turn) const = 0;
};

std::unique_ptr<Dialect> anthropic_dialect(const ModelName& model, const Credentials& credentials,
                                           const ChatOptions& options);
std::unique_ptr<Dialect> responses_dialect(const ModelName& model, const Credentials& credentials,
                                           const ChatOptions& options);
std::unique_ptr<Dialect> completions_dialect(const ModelName& model, const Credentials& credentials,
                                             const ChatOptions& options);
std::unique_ptr<Dialect> gemini_dialect(const ModelName& model, const Credentials& credentials,
                                        const ChatOptions& options);

}  // namespace onelaunch::llm
