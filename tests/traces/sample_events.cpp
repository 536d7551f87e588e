#include "tests/traces/sample_events.h"

namespace onelaunch::traces {
namespace {

const std::vector<ContextTime> kTimes{{.context = 32, .us_median = 80.5, .us_low = 80.25, .us_high = 81, .n = 7}};
const std::vector<Phase> kPhases{
    {.name = "kda", .bound = "memory", .us = 12.5, .dram_mb = 3.25, .warp_instructions = 123456789012}};
const std::vector<Phase> kMarkedPhases{{.name = "gate_up", .us = 30, .dram_mb = 2, .us_low = 28, .us_high = 33, .wait_us = 4,
                                        .critical_us = 31, .floor_mb = 1.5, .passes = 4, .blocks = 132}};

void add_model_events(std::vector<Event>& events, const std::string& blob) {
  events.push_back(ModelRequest{.provider = "anthropic", .model = "m", .request_sha256 = blob, .turn = 3});
  events.push_back(ModelResponse{.provider = "anthropic", .model = "m", .response_sha256 = blob, .stop_reason = "tool_use",
                                 .turn = 3, .input_tokens = 1234, .output_tokens = 56, .cache_read_tokens = 789,
                                 .cost_usd = 0.0125, .seconds = 4.5, .cache_write_tokens = 321, .reasoning_tokens = 33});
  events.push_back(ToolCall{.id = "t1", .name = "submit", .arguments_sha256 = blob});
  events.push_back(ToolResult{.id = "t1", .name = "submit", .result_sha256 = blob, .error = true, .seconds = 0.5, .state_sha256 = blob});
}

void add_candidate_events(std::vector<Event>& events, const std::string& blob) {
  events.push_back(Candidate{.id = "c17", .parent = "c3", .source_sha256 = blob, .tunables = {{"BLOCK", "256"}, {"SPLIT", "4"}},
                             .note = "wider \"loads\"\nand more", .prediction_us = 79.5});
  events.push_back(Compile{.candidate = "c17", .ok = true, .cached = true, .log = "warning: x\n", .seconds = 1.25,
                           .registers = 96, .spill_bytes = 16, .static_smem_bytes = 4096, .ptx_sha256 = some_hash('a'),
                           .cubin_sha256 = some_hash('b'), .log_sha256 = blob});
  events.push_back(Gate{.candidate = "c17", .stage = "correctness", .verdict = "fail", .test = "outputs",
                        .tensor = "hidden_out", .index = 9223372036854775807u, .got = -0.5, .want = 0.25,
                        .tolerance = 0.015625, .context = 96, .step = 3, .seed = 18446744073709551615u,
                        .detail = "12 of 256 differ", .inputs = "strict"});
  events.push_back(Measurement{.candidate = "c17", .kind = "measured", .context = 96, .us_median = 80.5, .us_low = 80.25,
                               .us_high = 81, .n = 2, .raw = {80.5, 81}, .phases = kPhases, .timing = "cold_l2",
                               .launches = 1, .sm_clock_mhz = 1980, .power_w = 512.5, .temperature_c = -4.5,
                               .throttle = "power", .sm_clock_mhz_high = 1995, .memory_clock_mhz = 3201, .strict_us = 80.75,
                               .token_loop_us = 79.5, .wall_us = 90, .enqueue_us = 3.5, .cold_l2_us = 84, .worker = 1,
                               .against = "c3", .raw_against = {82, 81.5}, .discarded = 3, .barriers = 14});
  events.push_back(Decision{.candidate = "c17", .verdict = "quarantine", .outcome = "wrong_answer", .us = 80.5,
                            .ratio = 1.01, .low = 1.005, .high = 1.015, .n = 5, .incumbent = "c3", .reason = "too fast",
                            .workers = 5, .discarded = 2, .screen_ratio = 1.02, .screen_low = 1.01, .screen_high = 1.03,
                            .seconds = 12.5});
  events.push_back(Checkpoint{.candidate = "c17", .source_sha256 = blob, .cubin_sha256 = some_hash('b'), .us = 80.5});
  events.push_back(Profile{.candidate = "c17", .context = 96, .phases = kMarkedPhases, .kind = "measured", .token_us = 90, .critical_us = 70,
                           .launch_us = 93, .unmarked_us = 91});
}

void judged(std::vector<Event>& events, Candidate candidate, const SessionShape& shape, double us, Decision decision) {
  const std::string id = candidate.id;
  events.push_back(std::move(candidate));
  events.push_back(Compile{.candidate = id, .ok = true, .seconds = 0.5, .registers = 64, .ptx_sha256 = some_hash('a'),
                           .cubin_sha256 = some_hash('b')});
  if (decision.outcome == "wrong_answer") {
    events.push_back(Gate{.candidate = id, .stage = "correctness", .verdict = "fail", .test = "outputs", .tensor = "y",
                          .index = 17, .got = 0.5, .want = 0.25, .tolerance = 0.01, .context = 32, .step = 1, .seed = 99});
  } else {
    events.push_back(Gate{.candidate = id, .stage = "correctness", .verdict = "pass"});
    for (const std::int64_t context : {32, 96})
      events.push_back(Measurement{.candidate = id, .kind = shape.kind, .context = context, .us_median = us,
                                   .us_low = us, .us_high = us, .n = 1});
    decision.us = us;
  }
  events.push_back(std::move(decision));
}

void opening(std::vector<Event>& events, const SessionShape& shape) {
  const bool modelled = shape.kind == "modelled";
  events.push_back(SessionStart{.harness_version = "0.1.0", .task = shape.task, .variant = shape.variant,
                                .agent = shape.agent, .device = "emu", .target = "sm_90a", .wall_s = 120,
                                .reserve_s = 10, .min_gain = 0.003, .containment = shape.containment, .rules = "rules/1"});
  events.push_back(DeviceSeen{.kind = modelled ? "emu" : "cuda", .name = shape.device, .uuid = "emu-1", .target = "sm_90a",
                              .nvrtc_version = "12.4", .sms = 132});
  events.push_back(Ceilings{.stream_tb_s = 4.7, .grid_barrier_us = 1.5, .launch_us = 3, .modelled = modelled,
                            .floors = {{.context = 32, .bytes = 1e6, .us = 20}, {.context = 96, .bytes = 1e6, .us = 20}}});
  events.push_back(Baseline{.name = "eager", .kind = shape.kind,
                            .times = {{.context = 32, .us_median = shape.baseline_us, .us_low = 0, .us_high = 0, .n = 1},
                                      {.context = 96, .us_median = shape.baseline_us, .us_low = 0, .us_high = 0, .n = 1}},
                            .launches = 4, .correct = true});
  events.push_back(Control{.name = "zeros", .failed_as_it_must = true, .outcome = "wrong_answer"});
}

void closing(std::vector<Event>& events, const SessionShape& shape) {
  if (shape.regraded)
    events.push_back(Regrade{.candidate = "c2", .outcome = "passed", .kind = shape.kind,
                             .times = {{.context = 32, .us_median = shape.best_us, .us_low = 0, .us_high = 0, .n = 1},
                                       {.context = 96, .us_median = shape.best_us, .us_low = 0, .us_high = 0, .n = 1}},
                             .us = shape.best_us, .seed = 5});
  if (shape.finished)
    events.push_back(SessionEnd{.reason = "cap", .detail = "the wall is reached", .best = "c2", .best_us = shape.best_us,
                                .baseline = "eager", .decisions = 3, .kept = 1,
                                .attribution_s = {{"compile", 1.5}, {"gate", 2}}, .session_seed = 7});
}

}  // namespace

std::string some_hash(char digit) { return std::string(64, digit); }

std::vector<Event> full_events(const std::string& blob) {
  std::vector<Event> events;
  events.push_back(SessionStart{.harness_version = "0.1.0", .task = "kimi_linear_decode", .variant = "tiny",
                                .task_sha256 = some_hash('c'), .agent = "tuner", .device = "emu", .target = "sm_90a",
                                .wall_s = 10800, .reserve_s = 540, .min_gain = 0.003, .budget_usd = 12.5,
                                .budget_tokens = 1000000, .session_seed = 42, .containment = "landlock", .rules = "rules/1",
                                .error_rate = 0.05, .prompt_sha256 = some_hash('d')});
  events.push_back(DeviceSeen{.kind = "cuda", .name = "NVIDIA H200", .uuid = "GPU-1", .target = "sm_90a",
                              .nvrtc_version = "12.4", .sms = 132, .driver_version = "570.1"});
  events.push_back(Ceilings{.stream_tb_s = 4.71, .grid_barrier_us = 1.5, .launch_us = 3.25, .modelled = false,
                            .floors = {{.context = 2048, .bytes = 243370000, .us = 51.7}}});
  events.push_back(Noise{.modelled = false, .half_width = 0.0004, .n = 40, .workers = 5, .worker_sd = 0.0003});
  events.push_back(Baseline{.name = "eager", .kind = "measured", .times = kTimes, .launches = 41, .correct = true});
  events.push_back(Control{.name = "zeros", .failed_as_it_must = true, .outcome = "wrong_answer"});
  add_model_events(events, blob);
  add_candidate_events(events, blob);
  events.push_back(Note{.author = "agent", .text = "grüße, 世界"});
  events.push_back(Wait{.what = "device lock", .seconds = 2.5});
  events.push_back(InfraError{.what = "the worker would not start", .candidate = "c17"});
  events.push_back(Resume{.previous_uuid = "GPU-1", .uuid = "GPU-2", .spent_s = 61.5, .recovered_events = 19, .torn_line = true});
  events.push_back(Regrade{.candidate = "c17", .outcome = "passed", .kind = "measured", .times = kTimes, .us = 80.5, .seed = 77,
                           .quarantine = "below the floor"});
  events.push_back(SessionEnd{.reason = "finished", .detail = "nothing left to try", .best = "c17", .best_us = 80.5,
                              .over_seed = 1.25, .over_baseline = 9.5, .baseline = "eager", .decisions = 12, .kept = 3,
                              .attribution_s = {{"compile", 10.5}, {"measure", 20}}, .session_seed = 42,
                              .experiments_per_hour = 240, .decision_s_median = 4.5});
  return events;
}

std::vector<Event> small_session(const SessionShape& shape, const std::string& seed_blob, const std::string& other_blob) {
  std::vector<Event> events;
  opening(events, shape);
  judged(events, {.id = "c0", .parent = "", .source_sha256 = seed_blob, .tunables = {{"BLOCK", "256"}, {"SPLIT", "1"}}, .note = ""},
         shape, shape.seed_us, {.candidate = "c0", .verdict = "keep", .outcome = "passed", .incumbent = "", .reason = "the seed"});
  events.push_back(Checkpoint{.candidate = "c0", .source_sha256 = seed_blob, .cubin_sha256 = some_hash('b'), .us = shape.seed_us});
  judged(events, {.id = "c1", .parent = "c0", .source_sha256 = seed_blob, .tunables = {{"BLOCK", "512"}, {"SPLIT", "1"}}, .note = "bigger blocks"},
         shape, 0, {.candidate = "c1", .verdict = "revert", .outcome = "wrong_answer", .incumbent = "c0", .reason = "y differs"});
  events.push_back(Note{.author = "agent", .text = "block 512 races"});
  judged(events, {.id = "c2", .parent = "c0", .source_sha256 = other_blob, .tunables = {{"BLOCK", "256"}, {"SPLIT", "4"}}, .note = "split the sum"},
         shape, shape.best_us, {.candidate = "c2", .verdict = "keep", .outcome = "passed", .ratio = shape.seed_us / shape.best_us,
                                .incumbent = "c0", .reason = "faster by 20 %"});
  events.push_back(Checkpoint{.candidate = "c2", .source_sha256 = other_blob, .cubin_sha256 = some_hash('b'), .us = shape.best_us});
  events.push_back(InfraError{.what = "the worker would not start", .candidate = "c3"});
  judged(events, {.id = "c3", .parent = "c2", .source_sha256 = other_blob, .tunables = {{"BLOCK", "128"}, {"SPLIT", "4"}}, .note = ""},
         shape, shape.best_us * 2, {.candidate = "c3", .verdict = "revert", .outcome = "passed", .ratio = 0.5, .incumbent = "c2", .reason = "slower"});
  closing(events, shape);
  return events;
}

}  // namespace onelaunch::traces
