#include "agent/mcp/session_host.h"

#include <chrono>
#include <thread>

#include "agent/external/local_socket.h"

namespace onelaunch::agent::mcp {
namespace {

constexpr std::chrono::milliseconds kLookAgain{100};

}  // namespace

// The file of the socket is there as soon as the session listens, and gone when it ends.
Result<void> SessionHost::wait_until_open(const Cancelled& cancelled) const {
  std::error_code ignored;
  while (!std::filesystem::exists(run_ / kSocketName, ignored)) {
    if (cancelled && cancelled()) return unavailable("cancelled");
    if (!running_()) return unavailable("it is not open");
    std::this_thread::sleep_for(kLookAgain);
  }
  return {};
}

Error SessionHost::ended(const Error& error) const {
  return {error.kind, "the session in " + run_.string() + " does not answer any more (" + error.message +
                          "). When it has ended, its best kernel and its trace are in that folder, and there is nothing left to do."};
}

Result<Offer> SessionHost::offer(const Cancelled& cancelled) {
  return wait_until_open(cancelled).and_then([&] { return ask_offer(run_, cancelled); }).map_error([&](const Error& error) {
    return ended(error);
  });
}

Result<ToolAnswer> SessionHost::call(const std::string& tool, const std::string& arguments, const Cancelled& cancelled) {
  return wait_until_open(cancelled)
      .and_then([&] { return call_tool(run_, tool, arguments, cancelled); })
      .map_error([&](const Error& error) { return ended(error); });
}

}  // namespace onelaunch::agent::mcp
