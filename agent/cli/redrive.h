#pragma once
// A recorded session once more through today's gates and rules: its candidates are proposed again in their order, and
// the decisions are set beside those on record. No model is asked for anything.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/loop/session.h"
#include "base/clock.h"
#include "base/result.h"
#include "traces/fold.h"

namespace onelaunch::cli {

struct RedrivenDecision {
  std::string id;                              // as recorded
  std::string recorded_verdict, recorded_outcome;
  std::string verdict, outcome, reason;        // today's; verdict empty: the time was over before its turn
  bool same() const { return recorded_verdict == verdict && recorded_outcome == outcome; }
};

struct RedriveReport {
  std::string run, task, variant, recorded_device, device;
  std::vector<std::string> remarks;
  std::vector<RedrivenDecision> decisions;
  int differing() const;
};

struct RedriveRequest {
  std::filesystem::path run;
  std::filesystem::path out;                   // where the new session is recorded
  std::string device;                          // empty: as for a regrade
};

// Where an agent gets a session's recorded proposals from. A source that plays a model's replies back through its agent
// would stand here too.
class RecordedProposals {
 public:
  virtual ~RecordedProposals() = default;
  struct Next {
    std::string id;                            // as recorded
    agent::Proposal proposal;                  // parent: as recorded
  };
  virtual Result<std::optional<Next>> next() = 0;
};
std::unique_ptr<RecordedProposals> recorded_candidates(const std::filesystem::path& run, const traces::SessionState& state);

// Borrows the observer. Fails (invalid_input) when the run cannot be read or holds no candidates.
Result<RedriveReport> redrive_run(const RedriveRequest& request, const Clock& clock, agent::Observer& observer,
                                  const agent::StopRequest& stop);

std::string redrive_text(const RedriveReport& report);
std::string redrive_json(const RedriveReport& report);  // onelaunch.redrive/1

}  // namespace onelaunch::cli
