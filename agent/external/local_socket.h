#pragma once
// DIR/session.sock: a Unix socket that only its owner may use. Paths of any length work.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace onelaunch::agent {

constexpr const char* kSocketName = "session.sock";

// Replaces a socket that an earlier session left behind.
Result<UniqueFd> listen_in(const std::filesystem::path& folder);
// Fails (unavailable) when nobody listens there.
Result<UniqueFd> connect_in(const std::filesystem::path& folder);

// Everything until the other side closes. Fails when it sends more than bytes_max or waits longer than `wait` between
// two pieces; Seconds(0) waits for ever.
Result<std::string> receive_all(int fd, std::size_t bytes_max, Seconds wait);
// Sends and closes our side. A receiver that has gone is an Error, never a signal.
Result<void> send_all(int fd, std::string_view text);

// Whether there is something to read, or an end, before the wait is over; Seconds(0) waits for ever.
bool readable_within(int fd, Seconds wait);
// Whether the other side has closed the connection, not just its own half.
bool hung_up(int fd);

// Waits for a connection at most this long. Nothing when none came.
Result<UniqueFd> accept_within(int fd, Seconds wait);

}  // namespace onelaunch::agent
