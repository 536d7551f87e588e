#pragma once
// A recorded session's kernels, compiled and measured again on this machine. The run is only read.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "traces/fold.h"

namespace onelaunch::cli {

struct RegradedKernel {
  std::string id;
  std::map<std::int64_t, double> recorded_us;  // by context; empty when it was never timed
  std::optional<double> recorded;              // their geometric mean
  std::string outcome;                         // "passed", "wrong_answer", ...
  std::string explanation;                     // empty when passed
  std::string quarantine;
  std::map<std::int64_t, double> here_us;
  std::optional<double> here;
  std::optional<double> ratio;                 // here over recorded: above 1 is slower here. Never of two kinds of times
};

struct RegradeReport {
  std::string run, task, variant;
  std::string recorded_device, recorded_kind;  // kind: "modelled", "measured"
  std::string here_device, here_kind;
  std::vector<std::string> remarks;            // what makes the two sides differ beside the machine
  std::vector<RegradedKernel> kernels;
  bool all_passed() const;
  bool same_device() const { return recorded_device == here_device && recorded_kind == here_kind; }
};

struct RegradeRequest {
  std::filesystem::path run;
  std::string device;                          // empty: emu for a run on emu, else auto
  bool only_best = false;                      // else every candidate that was kept, the seed first
  std::function<void(const std::string&)> busy = [](const std::string&) {};
};

// Fails (invalid_input) when the run cannot be read, or kept nothing.
Result<RegradeReport> regrade_run(const RegradeRequest& request, const Clock& clock);

// Recorded beside measured, for a terminal and as JSON (onelaunch.regrade/1).
std::string regrade_text(const RegradeReport& report);
std::string regrade_json(const RegradeReport& report);

// What the session's events say, and the device to repeat it on.
Result<traces::SessionState> recorded_state(const std::filesystem::path& run);
std::string repeat_device(const traces::SessionState& state, const std::string& asked);

}  // namespace onelaunch::cli
