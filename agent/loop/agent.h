#pragma once
// The port through which a session gets its ideas: ask for a candidate, tell how it did. The tuner, an external
// program and every language model stand behind it.

#include <optional>
#include <string>
#include <vector>

#include "agent/loop/stop.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/protocol/candidate.h"

namespace onelaunch::agent {

class Workbench;

struct Proposal {
  std::string source;
  sandbox::TunableValues tunables;  // defaults for those not named
  std::string parent;               // id; empty: the incumbent
  std::string note;
  std::optional<double> prediction_us;
};

enum class Verdict {
  keep,        // the new incumbent
  revert,      // right, but not faster by enough
  reject,      // did not compile, was refused, wrong, hung or faulted
  quarantine,  // right, but too fast to be true: kept out until it is explained
  unjudged,    // our failure or the session's end: says nothing about the candidate
};
const char* name_of(Verdict verdict);

struct ReportedTime {
  std::int64_t context = 0;
  double us = 0;
  double low_us = 0, high_us = 0;  // its interval; both us when modelled
};

// How one candidate did, in words and numbers that its author can act on.
struct Report {
  std::string candidate;  // id
  Proposal proposal;      // tunables: all of them, defaults filled in
  Verdict verdict = Verdict::unjudged;
  std::string outcome;              // "passed", "wrong_answer", ...
  std::string reason;               // one or a few lines
  std::vector<ReportedTime> times;  // us per token
  // us: geometric mean over the contexts; absent, with over_seed and over_baseline, when a quick check of one context
  // (then the only one in `times`, and what over_incumbent is about) showed that the candidate cannot be kept.
  std::optional<double> us, over_incumbent, over_seed, over_baseline;
  std::optional<double> low, high;  // of over_incumbent: its 95 % interval; over_incumbent itself when modelled
  int n = 0;                        // samples behind it: pairs when measured
  int workers = 0, discarded = 0;   // measured: fresh workers that confirmed (0: the screen decided), pairs left out
  struct Screen {
    double ratio = 0, low = 0, high = 0;
    std::string said;
  };
  std::optional<Screen> screen;     // measured: what the first worker said
  std::string baseline;             // what over_baseline is relative to
  bool modelled = true;
  std::string incumbent;  // id that it was compared with
  double left_s = 0;      // of the session, for new work
};

// What an agent knows when it begins.
struct Brief {
  std::string task, variant;
  std::string seed_source;
  std::vector<Report> history;  // everything judged so far, the seed first; longer after a resume
  Workbench* workbench = nullptr;  // the session's, for as long as it lives; null where there is none
};

class Agent {
 public:
  virtual ~Agent() = default;
  virtual std::string name() const = 0;
  // Once, before the first ask().
  virtual Result<void> begin(const Brief& brief) = 0;
  // The next candidate, or nothing: it has no further idea (ended() says more), or the deadline passed first.
  virtual Result<std::optional<Proposal>> ask(Deadline deadline) = 0;
  virtual void tell(const Report& report) = 0;
  // After ask() gave nothing: why, where it is more than that there is no further idea.
  virtual std::optional<AgentEnd> ended() const { return {}; }
  // Whether ask() may come before tell() of the candidate being judged, so that the next one compiles meanwhile.
  virtual bool looks_ahead() const = 0;
};

}  // namespace onelaunch::agent
