#pragma once
// The events of onelaunch.trace/1 as structs (traces/FORMAT.md documents each field and its unit). Appended once,
// never edited; fields are only ever added. The writer adds v, seq, t, ts, type and prev.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace onelaunch::traces {

struct SessionStart {
  static constexpr const char* type = "session_start";
  std::string harness_version, task, variant, task_sha256, agent, device, target;
  double wall_s = 0, reserve_s = 0, min_gain = 0;
  std::optional<double> budget_usd;
  std::optional<std::uint64_t> budget_tokens;
  std::optional<std::uint64_t> session_seed;  // only when the user fixed it; else secret until session_end
  std::string containment, rules;
  // measured: at most this chance that the session keeps any candidate which is no faster
  std::optional<double> error_rate = {};
  std::string prompt_sha256 = {};         // of the prompts that a model is driven by; absent without a model
};
struct DeviceSeen {
  static constexpr const char* type = "device";
  std::string kind, name, uuid, target, nvrtc_version;
  int sms = 0;
  std::string driver_version = {};
};
struct Ceilings {
  static constexpr const char* type = "ceilings";
  double stream_tb_s = 0, grid_barrier_us = 0, launch_us = 0;
  bool modelled = true;
  struct Floor { std::int64_t context = 0; double bytes = 0, us = 0; };
  std::vector<Floor> floors;
};
struct Noise {
  static constexpr const char* type = "noise";
  bool modelled = true;
  double half_width = 0;   // of the A/A log-ratio, as a fraction
  int n = 0;
  int workers = 0;         // fresh ones, each with its own seeds
  std::optional<double> worker_sd = {};  // of their answers, as a fraction
};
struct ContextTime {
  std::int64_t context = 0;
  double us_median = 0, us_low = 0, us_high = 0;
  int n = 0;
};
struct Baseline {
  static constexpr const char* type = "baseline";
  std::string name;
  std::string kind;        // "modelled", "measured"
  std::vector<ContextTime> times;
  int launches = 0;
  bool correct = false;
};
struct Control {
  static constexpr const char* type = "control";
  std::string name;        // "zeros": a kernel that must fail
  bool failed_as_it_must = false;
  std::string outcome;
};
struct ModelRequest {
  static constexpr const char* type = "model_request";
  std::string provider, model, request_sha256;
  int turn = 0;
};
struct ModelResponse {
  static constexpr const char* type = "model_response";
  std::string provider, model, response_sha256, stop_reason;
  int turn = 0;
  std::uint64_t input_tokens = 0, output_tokens = 0, cache_read_tokens = 0;
  std::optional<double> cost_usd;
  double seconds = 0;
  std::uint64_t cache_write_tokens = {}, reasoning_tokens = {};  // reasoning: part of the output
};
struct ToolCall {
  static constexpr const char* type = "tool_call";
  std::string id, name, arguments_sha256;
};
struct ToolResult {
  static constexpr const char* type = "tool_result";
  std::string id, name, result_sha256;
  bool error = false;
  double seconds = 0;
  std::string state_sha256 = {};          // blob of what the tools keep (candidate file, notes), when it changed
};
struct Candidate {
  static constexpr const char* type = "candidate";
  std::string id;                       // "c17"
  std::string parent;                   // id; empty for the seed
  std::string source_sha256;            // blobs/<sha256>
  std::map<std::string, std::string> tunables;
  std::string note;
  std::optional<double> prediction_us;
};
struct Compile {
  static constexpr const char* type = "compile";
  std::string candidate;
  bool ok = false, cached = false;
  std::string log;
  double seconds = 0;
  int registers = 0;
  std::uint64_t spill_bytes = 0, static_smem_bytes = 0;
  std::string ptx_sha256, cubin_sha256;
  std::string log_sha256 = {};            // blob of the whole log when `log` is cut
};
struct Gate {
  static constexpr const char* type = "gate";
  std::string candidate, stage, verdict;  // verdict: "pass", "fail"
  std::string test, tensor;
  std::uint64_t index = 0;
  std::optional<double> got, want;        // absent when not finite
  double tolerance = 0;
  std::int64_t context = 0;
  int step = 0;
  std::uint64_t seed = 0;
  std::string detail;
  std::string inputs = {};                // "nominal", "strict"
};
struct Phase {
  std::string name, bound;
  double us = 0, dram_mb = 0;
  std::uint64_t warp_instructions = 0;
  // By marks in the source, over blocks: us is the median. Waiting is for other blocks; critical: of the slowest block.
  std::optional<double> us_low = {}, us_high = {}, wait_us = {}, critical_us = {}, floor_mb = {};
  std::optional<int> passes = {}, blocks = {};  // marks of it that a block passes in a token; blocks that pass any
};
struct Measurement {
  static constexpr const char* type = "measurement";
  std::string candidate, kind;            // kind: "modelled", "measured"
  std::int64_t context = 0;
  double us_median = 0, us_low = 0, us_high = 0;
  int n = 0;
  std::vector<double> raw;                // us of each chain, per token
  std::vector<Phase> phases;
  // What was timed: "primary" is the score; "strict", "token_loop", "wall", "enqueue", "cold_l2" stand beside it;
  // "paired" samples were taken in turns with those of another kernel.
  std::string timing = "primary";
  std::optional<int> launches = {};       // per token, counted
  std::optional<double> sm_clock_mhz = {}, power_w = {}, temperature_c = {};
  std::string throttle = {};              // reasons, empty when none
  std::optional<double> sm_clock_mhz_high = {}, memory_clock_mhz = {};
  // primary: beside it, us per token. Strict inputs, one weight set, host clock, launching, nothing in L2.
  std::optional<double> strict_us = {}, token_loop_us = {}, wall_us = {}, enqueue_us = {}, cold_l2_us = {};
  std::optional<int> worker = {};         // paired: 0 the first, which screens; from 1 those that confirm
  std::string against = {};               // paired: id of the other kernel
  std::vector<double> raw_against = {};   // paired: its samples, i-th with i-th
  std::optional<int> discarded = {};      // paired: pairs left out of the medians
  std::optional<int> barriers = {};       // grid-wide, per token, counted
};
struct Decision {
  static constexpr const char* type = "decision";
  std::string candidate;
  std::string verdict;                    // "keep", "revert", "quarantine"
  std::string outcome;                    // "passed", "wrong_answer", ... (sandbox/protocol/outcome.h)
  std::optional<double> us, ratio, low, high;  // us: score; ratio: incumbent's over candidate's, with its interval
  int n = 0;
  std::string incumbent;                  // id it was compared with
  std::string reason;
  std::optional<int> workers = {}, discarded = {};  // measured: workers that confirmed; pairs left out
  std::optional<double> screen_ratio = {}, screen_low = {}, screen_high = {};  // what the first worker said
  std::optional<double> seconds = {};     // from the proposal, waiting behind another candidate left out
};
struct Checkpoint {
  static constexpr const char* type = "checkpoint";
  std::string candidate, source_sha256, cubin_sha256;
  double us = 0;
};
struct Profile {
  static constexpr const char* type = "profile";
  std::string candidate;
  std::int64_t context = 0;
  std::vector<Phase> phases;
  std::string kind = {};                  // "modelled", "measured"
  // Of the build with marks: from the first stamp to the last; the slowest block from wait to wait; the launch, and that
  // without marks.
  std::optional<double> token_us = {}, critical_us = {}, launch_us = {}, unmarked_us = {};
};
struct Note {
  static constexpr const char* type = "note";
  std::string author, text;
};
struct Wait {
  static constexpr const char* type = "wait";
  std::string what;
  double seconds = 0;
};
struct InfraError {
  static constexpr const char* type = "infra_error";
  std::string what;
  std::optional<std::string> candidate;
};
struct Resume {
  static constexpr const char* type = "resume";
  std::string previous_uuid, uuid;
  double spent_s = 0;
  std::uint64_t recovered_events = 0;
  bool torn_line = false;
};
struct Regrade {
  static constexpr const char* type = "regrade";
  std::string candidate, outcome, kind;
  std::vector<ContextTime> times;
  double us = 0;
  std::optional<std::uint64_t> seed = {}; // of its fresh weights
  std::string quarantine = {};            // why its times cannot be true; empty: nothing says so
};
struct SessionEnd {
  static constexpr const char* type = "session_end";
  std::string reason;                     // "cap", "finished", "interrupted", "budget", "error"; what a model ended:
                                          // "model_refused", "authentication", "quota", "provider_outage",
                                          // "context_overflow", "loop"
  std::string detail;                     // one line
  std::string best;
  std::optional<double> best_us, over_seed, over_baseline;
  std::string baseline;
  int decisions = 0, kept = 0;
  std::map<std::string, double> attribution_s;  // model compile gate measure lock_wait provider_retry tool idle
  std::optional<std::uint64_t> session_seed = {};  // what the weights came from, now that it may be known
  std::optional<double> experiments_per_hour = {}, decision_s_median = {};
};

using Event = std::variant<SessionStart, DeviceSeen, Ceilings, Noise, Baseline, Control, ModelRequest, ModelResponse,
                           ToolCall, ToolResult, Candidate, Compile, Gate, Measurement, Decision, Checkpoint, Profile,
                           Note, Wait, InfraError, Resume, Regrade, SessionEnd>;

// An event with what the writer added.
struct Record {
  std::uint64_t seq = 0;
  double t = 0;              // active seconds since the session's start
  std::string ts;            // UTC
  std::string prev;          // SHA-256 of the previous line
  Event event;
};

}  // namespace onelaunch::traces
