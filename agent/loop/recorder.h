#pragma once
// Turns what the sandbox says into the events of the trace, and keeps the session's state, the fold over them.

#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/measured_rule.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "traces/fold.h"
#include "traces/writer.h"

namespace onelaunch::agent {

// Borrows the writer and the clock. The first event that the disk refuses is remembered and ends the recording: ask
// status() before trusting that something is on record.
class Recorder {
 public:
  // `state`: the fold over what the trace holds already.
  Recorder(traces::Writer& writer, const Clock& clock, traces::SessionState state = {});

  void write(const traces::Event& event);
  // Into the blobs; returns its SHA-256.
  std::string store(const std::string& text);
  // Stores the source and proposes it.
  void candidate(const std::string& id, const Proposal& proposal);
  void compiled(const std::string& id, const sandbox::Compiled& compiled);
  // Gates and measurements.
  void graded(const std::string& id, const sandbox::Grade& grade);
  // Primary times alone, as when several workers' are put together.
  void timed(const std::string& id, const std::vector<sandbox::Measurement>& times);
  // What a worker saw of `id` next to `against`; `number` 0: the one that screens.
  void paired(const std::string& id, const std::string& against, int number,
              const std::vector<sandbox::PairedTimes>& pairs, const WorkerGain& gain);
  void infra_error(const std::string& what, const std::string& candidate);
  void baseline(const sandbox::BaselineResult& baseline);
  void regrade(const std::string& id, const sandbox::Grade& grade, std::uint64_t seed);

  const Result<void>& status() const { return status_; }
  const traces::SessionState& state() const { return state_; }
  const traces::Writer& writer() const { return writer_; }

 private:
  traces::Writer& writer_;
  const Clock& clock_;
  traces::SessionState state_;
  Result<void> status_;
};

std::vector<traces::ContextTime> context_times(const std::vector<sandbox::Measurement>& times);
const char* kind_of(const std::vector<sandbox::Measurement>& times);  // "modelled", "measured"

}  // namespace onelaunch::agent
