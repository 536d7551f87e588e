#pragma once
// One timed session: opens, asks and judges until its time is used, closes with its best kernel verified and on disk.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/agent.h"
#include "agent/loop/closing.h"
#include "agent/loop/emulation.h"
#include "agent/loop/judge.h"
#include "agent/loop/limits.h"
#include "agent/loop/observer.h"
#include "agent/loop/opening.h"
#include "agent/loop/session_workbench.h"
#include "agent/loop/stop.h"
#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"
#include "traces/fold.h"
#include "traces/writer.h"

namespace onelaunch::agent {

// All borrowed for as long as the session lives.
struct SessionPorts {
  sandbox::Sandbox& sandbox;
  const Clock& clock;
  Agent& agent;
  Observer& observer;
  const StopRequest& stop;
  traces::Writer& writer;
  OpenEmulated open_emulated = {};  // for the agent's workbench; empty: the one that is installed
};

struct SessionOptions {
  Seconds wall{3 * 3600.0};                   // active time over all legs
  double min_gain = 0.003;                    // fraction
  std::optional<std::uint64_t> session_seed;  // of the weights; secret and random when absent
  std::string harness_version;
  std::string device = "emu";     // as asked for
  // For the record of a model's session: what the agent may spend, and the hash of what it is told.
  std::optional<double> budget_usd = {};
  std::optional<std::uint64_t> budget_tokens = {};
  std::string prompt_sha256 = {};
  std::filesystem::path publish;  // folder for <sha12>/; empty: not published
  SessionLimits limits;
};

// A trace that is continued.
struct Continuation {
  traces::SessionState state;
  std::uint64_t events = 0;
  bool torn_line = false;
  std::map<std::string, double> attribution_s;  // of the earlier legs
};

struct SessionResult {
  StopReason reason = StopReason::error;
  std::string detail;
  std::string best, baseline;
  std::optional<double> best_us, seed_us, baseline_us;
  std::string kind = "modelled";
  int decisions = 0, kept = 0;
  bool verified = false;            // the closing re-grade passed
  std::filesystem::path published;  // empty when nothing was
  double active_s = 0;
  std::map<std::string, double> attribution_s;
  std::optional<double> experiments_per_hour, decision_s_median;  // over all legs
  std::optional<double> noise_half_width, least_gain;  // measured: of the A/A test; what was asked for, a fraction
  int confirmations = 0;                               // measured, over all legs
  // Of a model, over all legs; cost_usd: of the replies whose price is known.
  int model_turns = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0;   // input: without what came from the provider's cache
  std::optional<double> cost_usd = {};
};

class Session {
 public:
  // `seed_source` is what the session starts from, unless a continued one has a seed on record.
  Session(const tasks::Task& task, std::string seed_source, SessionPorts ports, SessionOptions options,
          std::optional<Continuation> continuation = {});

  // Fails on what ends a session from our side: a gate that passes a control, a seed that does not pass, a disk that
  // refuses. What was recorded and kept until then stays on disk.
  Result<SessionResult> run();

 private:
  struct Entrant {
    std::string id;
    Proposal proposal;
    Compiling compiling;
    Seconds proposed{0};
  };

  Result<void> start();
  Result<void> open();
  Brief brief();
  StopReason loop();
  StopReason agent_ended();
  std::optional<Entrant> next_entrant();
  const traces::Attempt* left_undecided(const Proposal& proposal) const;
  void judge(Entrant entrant);
  void keep(const Entrant& entrant, Judgement& judgement, double us);
  double evaluation_s() const;
  bool time_for_another() const;
  void give_up(const std::string& why);
  void drop(std::optional<Entrant>& entrant);
  Result<SessionResult> close(StopReason reason, const std::string& detail);
  void publish(SessionResult& result, Regraded regraded);

  SessionPorts ports_;
  SessionOptions options_;
  std::string seed_source_;
  std::optional<Continuation> continuation_;
  Budget budget_;
  TimeMeter meter_;
  Recorder recorder_;
  Workplace place_;
  Judge judge_;
  std::uint64_t weight_seed_ = 0;
  std::optional<Opened> opened_;
  SessionWorkbench bench_;
  std::optional<MeasuredRule> rule_;  // of measured times
  int confirmations_ = 0;             // over all legs
  std::vector<double> decision_s_;    // of each decision, over all legs
  int lost_in_a_row_ = 0;             // candidates, to failures of ours
  std::string failure_;               // the last of them, or why the agent ended
  double last_judgement_s_ = 0;
};

}  // namespace onelaunch::agent
