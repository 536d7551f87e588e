#pragma once
// What passes over a session's socket: one submission, then its report. Both are one JSON object each; the sender
// closes its side after it.

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/loop/agent.h"
#include "base/result.h"

namespace onelaunch::agent {

constexpr std::size_t kMessageBytesMax = std::size_t{8} << 20;

std::string print_submission(const Proposal& proposal);
// Fails (invalid_input) on anything but a submission of this version.
Result<Proposal> parse_submission(std::string_view text);

std::string print_report(const Report& report);
std::string print_refusal(const std::string& why);  // of a submission that was not one
// Fails (invalid_input) with the refusal's reason, or when the text is no report.
Result<Report> parse_report(std::string_view text);

}  // namespace onelaunch::agent
