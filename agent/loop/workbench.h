#pragma once
// What an agent may do between two proposals: look at how the session stands, try things out, leave a record. A session
// offers it (Brief::workbench) for as long as it lives. One thread, but for interrupt().

#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"
#include "traces/event.h"

namespace onelaunch::agent {

class Workbench {
 public:
  virtual ~Workbench() = default;

  struct Situation {
    double used_s = 0;                    // active time over all legs
    double left_s = 0;                    // for new work: up to the reserve
    double wall_s = 0;                    // the cap
    double evaluation_s = 0;              // what judging one more candidate may take, as far as is known
    int decisions = 0, kept = 0;          // the seed's own in neither
    std::string incumbent;                // id
    std::optional<double> best_us, seed_us, baseline_us;  // scores, us a token
    std::string baseline;                 // its name; empty when it could not be run
    bool modelled = true;
  };
  virtual Situation situation() const = 0;
  virtual const tasks::Task& task() const = 0;
  virtual const sandbox::DeviceInfo& device() const = 0;

  // Everything judged, the seed first; grows before each tell(). References stay valid until then.
  virtual const std::vector<Report>& history() const = 0;
  // Of a judged candidate. Fails (invalid_input) on an unknown id.
  virtual Result<std::string> source_of(const std::string& id) const = 0;

  // Each fails (unavailable) when it was interrupted, when the session is asked to stop, or when the deadline or the end of
  // the time for work came first: nothing outlives those. What a candidate did wrong is in the value.
  virtual Result<sandbox::Compiled> compile(const Proposal& proposal, Deadline deadline) = 0;
  // On the emulated device, on cuda sessions too, at the task's smallest variant.
  virtual Result<sandbox::Grade> emulate(const Proposal& proposal, const sandbox::GradeRequest& request,
                                         Deadline deadline) = 0;
  virtual std::string emulated_variant() const = 0;                               // "tiny"
  virtual Result<std::string> profile(const Proposal& proposal, Deadline deadline) = 0;  // as text
  virtual Result<std::string> microbench(Deadline deadline) = 0;                  // the device's ceilings as text
  // SASS as text. Fails (unavailable) where there is no disassembler.
  virtual Result<std::string> machine_code(const sandbox::Compiled& compiled, Deadline deadline) = 0;
  // From any thread: what is running now ends soon, with an Error (unavailable). Later calls work again.
  virtual void interrupt() = 0;

  // An event about the agent: model_request, model_response, tool_call, tool_result, note, wait. A wait's time is
  // attributed to provider_retry instead of model.
  virtual void record(const traces::Event& event) = 0;
  // Into the run's blobs; returns its SHA-256. What the disk refuses ends the session soon.
  virtual std::string store(const std::string& text) = 0;
  virtual Result<std::string> stored(const std::string& sha256) const = 0;

  virtual Deadline work_end() const = 0;
  virtual bool stopping() const = 0;  // the session has been asked to end
};

}  // namespace onelaunch::agent
