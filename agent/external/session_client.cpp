#include "agent/external/session_client.h"

#include "agent/external/local_socket.h"
#include "agent/external/submission.h"
#include "base/unique_fd.h"

namespace onelaunch::agent {
namespace {

constexpr Seconds kLookAgain{0.1};

// Fails when the session closes without an answer.
Result<std::string> exchange(const std::filesystem::path& run, const std::string& message, const Cancelled& cancelled,
                             const std::string& until) {
  Result<UniqueFd> connection = connect_in(run);
  if (!connection) return because(connection.error());
  if (const Result<void> sent = send_all(connection->get(), message); !sent) return because(sent.error(), "asking the session");
  while (cancelled && !readable_within(connection->get(), kLookAgain))
    if (cancelled()) return unavailable("cancelled");
  const Result<std::string> reply = receive_all(connection->get(), kMessageBytesMax, Seconds(0));
  if (!reply) return because(reply.error(), "waiting for the session");
  if (reply->empty()) return unavailable("the session ended before " + until);
  return *reply;
}

}  // namespace

Result<Offer> ask_offer(const std::filesystem::path& run, const Cancelled& cancelled) {
  return exchange(run, print(OfferRequest{}), cancelled, "it answered").and_then([](const std::string& reply) { return parse_offer(reply); });
}

Result<ToolAnswer> call_tool(const std::filesystem::path& run, const std::string& name, const std::string& arguments,
                             const Cancelled& cancelled) {
  const ToolRequest request{.name = name, .arguments = arguments};
  return exchange(run, print(request), cancelled, "it answered").and_then([](const std::string& reply) { return parse_tool_answer(reply); });
}

Result<Report> submit(const std::filesystem::path& run, const Proposal& proposal) {
  return exchange(run, print_submission(proposal), {}, "it judged the kernel").and_then([](const std::string& reply) {
    return parse_report(reply);
  });
}

}  // namespace onelaunch::agent
