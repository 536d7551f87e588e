#pragma once
// A Chat over HTTP: one dialect, one history, retries until the deadline.

#include <memory>
#include <string>
#include <variant>

#include "agent/llm/chat.h"
#include "agent/llm/dialect.h"
#include "agent/llm/history.h"
#include "agent/llm/http.h"
#include "agent/llm/prices.h"
#include "agent/llm/retry.h"

namespace onelaunch::llm {

class ChatSession final : public Chat {
 public:
  struct Parts {
    ModelName model;
    std::string key;  // to be kept out of every message
    ChatOptions options;
    std::unique_ptr<Dialect> dialect;
    std::unique_ptr<HttpClient> http;
    PriceTable prices;
  };
  ChatSession(Parts parts, const Clock& clock);

  void say(const std::string& text) override;
  void answer(const std::vector<ToolOutput>& outputs, const std::string& after) override;
  std::string next_request() const override;
  SendResult send(Deadline deadline, const std::function<void(const Retry&)>& on_retry) override;
  void stop() override { parts_.http->stop(); }
  std::string save() const override { return history_.save(); }
  Result<void> restore(const std::string& saved) override { return history_.restore(saved); }

 private:
  struct Attempt;
  using AttemptResult = std::variant<Reply, Fault, CallFailure>;
  AttemptResult attempt(const std::string& body, Deadline deadline);
  AttemptResult judged(Attempt& attempt, const HttpAnswer& answer, const std::string& body);
  Reply reply_of(Turn turn, const HttpAnswer& answer, const std::string& body);
  std::string without_key(std::string text) const;

  Parts parts_;
  const Clock& clock_;
  History history_;
  Backoff backoff_;
  bool was_connected_ = false;  // the server has answered at least once
};

}  // namespace onelaunch::llm
