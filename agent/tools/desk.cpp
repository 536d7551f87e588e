#include "agent/tools/desk.h"

#include "base/sha256.h"

namespace onelaunch::agent {

ToolReply answer(std::string text) { return {.text = std::move(text)}; }
ToolReply refuse(std::string text) { return {.text = std::move(text), .error = true}; }

void settle_origin(Desk& desk) {
  desk.origin.clear();
  desk.origin_sha256 = sha256_hex(desk.source);
}

Proposal proposal_of(const Desk& desk, const sandbox::TunableValues& defines) {
  Proposal proposal{.source = desk.source, .tunables = defines, .parent = desk.origin};
  if (!desk.origin.empty()) return proposal;
  for (const Report& report : desk.bench.history())
    if (sha256_hex(report.proposal.source) == desk.origin_sha256) proposal.parent = report.candidate;
  return proposal;
}

}  // namespace onelaunch::agent
