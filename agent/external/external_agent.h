#pragma once
// An agent outside of the harness: a person or a program that submits kernels over DIR/session.sock.

#include <filesystem>
#include <string>

#include "agent/loop/agent.h"
#include "agent/loop/stop.h"
#include "base/clock.h"
#include "base/unique_fd.h"

namespace onelaunch::agent {

// Listens from its construction until its destruction; who submits earlier than it is asked waits in line.
class ExternalAgent final : public Agent {
 public:
  // Borrows the clock and the stop request.
  static Result<ExternalAgent> listen(const std::filesystem::path& run, const Clock& clock, const StopRequest& stop);
  ExternalAgent(ExternalAgent&&) = default;
  ~ExternalAgent() override;

  std::string name() const override { return "external"; }
  Result<void> begin(const Brief&) override { return {}; }
  Result<std::optional<Proposal>> ask(Deadline deadline) override;
  void tell(const Report& report) override;
  bool looks_ahead() const override { return false; }

 private:
  ExternalAgent(std::filesystem::path run, UniqueFd socket, const Clock& clock, const StopRequest& stop);
  std::optional<Proposal> receive(UniqueFd connection);

  std::filesystem::path run_;
  UniqueFd socket_, submitter_;  // submitter_: who waits for the report
  const Clock* clock_;
  const StopRequest* stop_;
};

// Sends a kernel to the session that is open in `run` and waits for its report. Fails with `unavailable` when none is.
Result<Report> submit(const std::filesystem::path& run, const Proposal& proposal);

}  // namespace onelaunch::agent
