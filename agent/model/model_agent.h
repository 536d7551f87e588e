#pragma once
// An agent that is a language model with tools: it talks, the toolbox does, and what it evaluates is judged by the
// session. All that was said is in the trace, so that a killed session takes the conversation up where it was.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/llm/chat.h"
#include "agent/loop/agent.h"
#include "agent/loop/observer.h"
#include "agent/loop/workbench.h"
#include "agent/model/model_options.h"
#include "agent/model/talk.h"
#include "agent/model/turn_writer.h"
#include "agent/tools/toolbox.h"
#include "base/clock.h"
#include "traces/event.h"

namespace onelaunch::agent {

struct ChatRequest {
  std::string system;
  std::vector<llm::ToolSpec> tools;
  std::uint64_t output_tokens_max = 0;
};
// Fails (invalid_input) as llm::open_chat does.
using OpenChat = std::function<Result<std::unique_ptr<llm::Chat>>(const ChatRequest&)>;

// Borrows clock and observer. `past`: the events of the session that is resumed, in order.
class ModelAgent final : public Agent {
 public:
  ModelAgent(ModelOptions options, OpenChat open, const Clock& clock, Observer& observer,
             std::vector<traces::Record> past = {});
  ~ModelAgent() override;

  std::string name() const override { return options_.agent; }
  // Fails (invalid_input) when the trace of a resumed session does not fit this model.
  Result<void> begin(const Brief& brief) override;
  Result<std::optional<Proposal>> ask(Deadline deadline) override;
  void tell(const Report& report) override;
  bool looks_ahead() const override { return false; }
  std::optional<AgentEnd> ended() const override { return end_; }

  // From any thread: a call to the model that is under way ends soon; there will be no other.
  void stop();

 private:
  Result<void> open_chat(std::uint64_t output_tokens_max, const std::string& saved);
  // Of a resumed session.
  Result<void> take_up();
  Result<void> fold(const traces::Record& record);
  Result<void> fold_request(const traces::ModelRequest& event);
  Result<void> fold_response(const traces::ModelResponse& event);
  Result<void> fold_result(const traces::ToolResult& event);

  // Of the conversation.
  std::optional<AgentEnd> reason_to_end() const;
  Result<void> next_request();
  Result<void> prepare(const UserTurn& turn);
  Result<void> put(const UserTurn& turn);
  void record_request(const UserTurn& turn);
  bool send(Deadline deadline);
  void heard(const llm::Reply& reply);
  void failed(const llm::CallFailure& failure);
  void record_wait();
  std::uint64_t prompt_tokens(const UserTurn& turn) const;

  // Of the tools.
  std::optional<Proposal> run_call(Deadline deadline);
  void finish_call(const std::string& text, bool error);

  ModelOptions options_;
  OpenChat open_;
  const Clock& clock_;
  Observer& observer_;
  std::vector<traces::Record> past_;
  Workbench* bench_ = nullptr;
  std::optional<Toolbox> toolbox_;
  std::optional<TurnWriter> writer_;
  std::string system_;
  std::vector<llm::ToolSpec> tools_;
  Talk talk_;
  std::string saved_;                       // the history after the last reply
  bool restart_ = false;                    // the conversation must be begun anew
  std::optional<AgentEnd> end_;
  Seconds call_began_{0}, wait_began_{0};
  std::optional<llm::Retry> waiting_;       // for the provider, and not on record yet
  std::uint64_t output_tokens_max_ = 0;     // of the open chat
  bool stopped_ = false;
  std::mutex mutex_;                        // of chat_ as a pointer, and of stopped_
  std::unique_ptr<llm::Chat> chat_;
};

}  // namespace onelaunch::agent
