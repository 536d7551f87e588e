#include "agent/external/external_agent.h"

#include <algorithm>
#include <utility>

#include "agent/external/local_socket.h"
#include "agent/external/submission.h"

namespace onelaunch::agent {
namespace {

constexpr Seconds kLookAtOnce{0.001}, kLookAgain{0.1};  // how soon a wish to stop is noticed
constexpr Seconds kSilenceMax{5};                       // of a submitter that has connected

}  // namespace

Result<ExternalAgent> ExternalAgent::listen(const std::filesystem::path& run, const Clock& clock,
                                            const StopRequest& stop) {
  Result<UniqueFd> socket = listen_in(run);
  if (!socket) return because(socket.error());
  return ExternalAgent(run, std::move(*socket), clock, stop);
}

ExternalAgent::ExternalAgent(std::filesystem::path run, UniqueFd socket, const Clock& clock, const StopRequest& stop)
    : run_(std::move(run)), socket_(std::move(socket)), clock_(&clock), stop_(&stop) {}

ExternalAgent::~ExternalAgent() {
  std::error_code ignored;
  if (socket_) std::filesystem::remove(run_ / kSocketName, ignored);
}

Result<std::optional<Proposal>> ExternalAgent::ask(Deadline deadline) {
  const int stops = stop_->times();
  while (!deadline.passed(*clock_) && stop_->times() == stops) {
    const Seconds wait = std::clamp(deadline.left(*clock_), kLookAtOnce, kLookAgain);
    Result<UniqueFd> connection = accept_within(socket_.get(), wait);
    if (!connection) return because(connection.error());
    if (!*connection) continue;
    if (std::optional<Proposal> proposal = receive(std::move(*connection))) return proposal;
  }
  return std::optional<Proposal>();
}

// A message that is no submission is answered and forgotten.
std::optional<Proposal> ExternalAgent::receive(UniqueFd connection) {
  Result<Proposal> proposal =
      receive_all(connection.get(), kMessageBytesMax, kSilenceMax).and_then([](const std::string& text) {
        return parse_submission(text);
      });
  if (!proposal) {
    [[maybe_unused]] const Result<void> told = send_all(connection.get(), print_refusal(proposal.error().message));
    return std::nullopt;
  }
  submitter_ = std::move(connection);
  return *proposal;
}

void ExternalAgent::tell(const Report& report) {
  if (!submitter_) return;
  // A submitter that has gone finds its report in the trace.
  [[maybe_unused]] const Result<void> told = send_all(submitter_.get(), print_report(report));
  submitter_.reset();
}

Result<Report> submit(const std::filesystem::path& run, const Proposal& proposal) {
  Result<UniqueFd> connection = connect_in(run);
  if (!connection) return because(connection.error());
  if (const Result<void> sent = send_all(connection->get(), print_submission(proposal)); !sent)
    return because(sent.error(), "submitting");
  const Result<std::string> reply = receive_all(connection->get(), kMessageBytesMax, Seconds(0));
  if (!reply) return because(reply.error(), "waiting for the report");
  if (reply->empty()) return unavailable("the session ended before it judged the kernel");
  return parse_report(*reply);
}

}  // namespace onelaunch::agent
