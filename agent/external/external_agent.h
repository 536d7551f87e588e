#pragma once
// An agent outside of the harness: a person or a program that uses the session's tools, or submits kernels, over
// DIR/session.sock. agent/external/session_client.h is its other end.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/external/tool_message.h"
#include "agent/loop/agent.h"
#include "agent/loop/stop.h"
#include "agent/loop/workbench.h"
#include "agent/tools/toolbox.h"
#include "base/clock.h"
#include "base/unique_fd.h"

namespace onelaunch::agent {

// Listens from its construction until its destruction; who asks earlier than it is asked waits in line. Tool calls are
// served while the session waits for a proposal, and are on record like those of a model.
class ExternalAgent final : public Agent {
 public:
  // Borrows the clock and the stop request.
  static Result<ExternalAgent> listen(const std::filesystem::path& run, const Clock& clock, const StopRequest& stop);
  ExternalAgent(ExternalAgent&&) = default;
  ~ExternalAgent() override;

  std::string name() const override { return "external"; }
  // Takes up the candidate file and the notes of an earlier leg.
  Result<void> begin(const Brief& brief) override;
  Result<std::optional<Proposal>> ask(Deadline deadline) override;
  void tell(const Report& report) override;
  std::optional<AgentEnd> ended() const override { return end_; }
  bool looks_ahead() const override { return false; }

 private:
  // Who waits for a report, and for which call; a submission has no call.
  struct Waiting {
    UniqueFd connection;
    std::optional<ToolRequest> call;
    std::string id;
    Seconds since{0};
  };

  ExternalAgent(std::filesystem::path run, UniqueFd socket, const Clock& clock, const StopRequest& stop);
  std::optional<Proposal> receive(UniqueFd connection, Deadline deadline);
  std::optional<Proposal> take_submission(UniqueFd connection, const std::string& text);
  std::optional<Proposal> serve(UniqueFd connection, const std::string& text, Deadline deadline);
  std::optional<Proposal> run(UniqueFd connection, const ToolRequest& request, Deadline deadline);
  void finish(Waiting waiting, const ToolAnswer& answer);
  std::string next_id();

  std::filesystem::path run_;
  UniqueFd socket_;
  const Clock* clock_;
  const StopRequest* stop_;
  Workbench* bench_ = nullptr;       // null: a session that offers no tools
  std::optional<Toolbox> toolbox_;
  std::string state_;                // the toolbox's, as it is on record
  std::optional<Waiting> waiting_;
  std::int64_t last_id_ = 0;
  std::optional<AgentEnd> end_;
};

}  // namespace onelaunch::agent
