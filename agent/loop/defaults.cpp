#include "agent/loop/defaults.h"

#include "sandbox/host/tunables.h"

namespace onelaunch::agent {

void fill_defaults(Proposal& proposal) {
  auto values = sandbox::scan_tunables(proposal.source).and_then([&](const std::vector<sandbox::Tunable>& tunables) {
    return sandbox::choose_values(tunables, proposal.tunables);
  });
  if (values) proposal.tunables = std::move(*values);
}

}  // namespace onelaunch::agent
