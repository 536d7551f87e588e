#pragma once
// Every event's fields, listed once: the JSON printer, the parser, `trace verify` and the tests walk this list.
// A visitor is called as visit(name, member, rule).

#include <array>
#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include "traces/event.h"

namespace onelaunch::traces {

// What a text field holds. Blobs are hashes of files under blobs/.
enum class Form { text, hash, blob };

struct Rule {
  bool required = false;                       // otherwise absent when empty
  Form form = Form::text;
  std::span<const std::string_view> words = {};  // the only values allowed (or empty, when not required)
  bool negative = false;                       // numbers: may be below zero
};
inline constexpr Rule kMust{.required = true};
inline constexpr Rule kMay{};
inline constexpr Rule kMaySigned{.negative = true};
inline constexpr Rule kHash{.form = Form::hash};
inline constexpr Rule kBlob{.form = Form::blob};
inline constexpr Rule kMustBlob{.required = true, .form = Form::blob};
constexpr Rule must_be(std::span<const std::string_view> words) { return {.required = true, .words = words}; }
constexpr Rule may_be(std::span<const std::string_view> words) { return {.words = words}; }

inline constexpr std::array<std::string_view, 2> kKinds{"modelled", "measured"};
inline constexpr std::array<std::string_view, 2> kGateVerdicts{"pass", "fail"};
inline constexpr std::array<std::string_view, 3> kDecisions{"keep", "revert", "quarantine"};
inline constexpr std::array<std::string_view, 7> kOutcomes{"passed",  "compile_failed", "refused", "wrong_answer",
                                                           "faulted", "timed_out",      "crashed"};
inline constexpr std::array<std::string_view, 2> kInputs{"nominal", "strict"};
inline constexpr std::array<std::string_view, 7> kTimings{"primary", "strict",  "token_loop", "wall",
                                                          "enqueue", "cold_l2", "paired"};
inline constexpr std::array<std::string_view, 11> kEndings{
    "cap",            "finished", "interrupted",     "budget",           "error", "model_refused",
    "authentication", "quota",    "provider_outage", "context_overflow", "loop"};

template <class T, class E>
concept Of = std::same_as<std::remove_const_t<T>, E>;

template <class V, Of<Ceilings::Floor> T>
void fields(V& v, T& e) {
  v("context", e.context, kMust), v("bytes", e.bytes, kMay), v("us", e.us, kMust);
}
template <class V, Of<ContextTime> T>
void fields(V& v, T& e) {
  v("context", e.context, kMust), v("us_median", e.us_median, kMust), v("us_low", e.us_low, kMay);
  v("us_high", e.us_high, kMay), v("n", e.n, kMay);
}
template <class V, Of<Phase> T>
void fields(V& v, T& e) {
  v("name", e.name, kMust), v("bound", e.bound, kMay), v("us", e.us, kMust), v("dram_mb", e.dram_mb, kMay);
  v("warp_instructions", e.warp_instructions, kMay), v("us_low", e.us_low, kMay), v("us_high", e.us_high, kMay);
  v("wait_us", e.wait_us, kMay), v("critical_us", e.critical_us, kMay), v("floor_mb", e.floor_mb, kMay);
  v("passes", e.passes, kMay), v("blocks", e.blocks, kMay);
}
template <class V, Of<SessionStart> T>
void fields(V& v, T& e) {
  v("harness_version", e.harness_version, kMust), v("task", e.task, kMust), v("variant", e.variant, kMay);
  v("task_sha256", e.task_sha256, kHash), v("agent", e.agent, kMust), v("device", e.device, kMust);
  v("target", e.target, kMay), v("wall_s", e.wall_s, kMust), v("reserve_s", e.reserve_s, kMay);
  v("min_gain", e.min_gain, kMay), v("budget_usd", e.budget_usd, kMay), v("budget_tokens", e.budget_tokens, kMay);
  v("session_seed", e.session_seed, kMay), v("containment", e.containment, kMay), v("rules", e.rules, kMay);
  v("error_rate", e.error_rate, kMay), v("prompt_sha256", e.prompt_sha256, kHash);
}
template <class V, Of<DeviceSeen> T>
void fields(V& v, T& e) {
  v("kind", e.kind, kMust), v("name", e.name, kMust), v("uuid", e.uuid, kMay), v("target", e.target, kMay);
  v("nvrtc_version", e.nvrtc_version, kMay), v("sms", e.sms, kMay), v("driver_version", e.driver_version, kMay);
}
template <class V, Of<Ceilings> T>
void fields(V& v, T& e) {
  v("stream_tb_s", e.stream_tb_s, kMust), v("grid_barrier_us", e.grid_barrier_us, kMay);
  v("launch_us", e.launch_us, kMay), v("modelled", e.modelled, kMust), v("floors", e.floors, kMay);
}
template <class V, Of<Noise> T>
void fields(V& v, T& e) {
  v("modelled", e.modelled, kMust), v("half_width", e.half_width, kMust), v("n", e.n, kMay);
  v("workers", e.workers, kMay), v("worker_sd", e.worker_sd, kMay);
}
template <class V, Of<Baseline> T>
void fields(V& v, T& e) {
  v("name", e.name, kMust), v("kind", e.kind, must_be(kKinds)), v("times", e.times, kMust);
  v("launches", e.launches, kMay), v("correct", e.correct, kMust);
}
template <class V, Of<Control> T>
void fields(V& v, T& e) {
  v("name", e.name, kMust), v("failed_as_it_must", e.failed_as_it_must, kMust), v("outcome", e.outcome, kMay);
}
template <class V, Of<ModelRequest> T>
void fields(V& v, T& e) {
  v("provider", e.provider, kMust), v("model", e.model, kMust), v("request_sha256", e.request_sha256, kBlob);
  v("turn", e.turn, kMust);
}
template <class V, Of<ModelResponse> T>
void fields(V& v, T& e) {
  v("provider", e.provider, kMust), v("model", e.model, kMust), v("response_sha256", e.response_sha256, kBlob);
  v("stop_reason", e.stop_reason, kMay), v("turn", e.turn, kMust), v("input_tokens", e.input_tokens, kMay);
  v("output_tokens", e.output_tokens, kMay), v("cache_read_tokens", e.cache_read_tokens, kMay);
  v("cost_usd", e.cost_usd, kMay), v("seconds", e.seconds, kMust);
  v("cache_write_tokens", e.cache_write_tokens, kMay), v("reasoning_tokens", e.reasoning_tokens, kMay);
}
template <class V, Of<ToolCall> T>
void fields(V& v, T& e) {
  v("id", e.id, kMust), v("name", e.name, kMust), v("arguments_sha256", e.arguments_sha256, kBlob);
}
template <class V, Of<ToolResult> T>
void fields(V& v, T& e) {
  v("id", e.id, kMust), v("name", e.name, kMust), v("result_sha256", e.result_sha256, kBlob);
  v("error", e.error, kMust), v("seconds", e.seconds, kMust), v("state_sha256", e.state_sha256, kBlob);
}
template <class V, Of<Candidate> T>
void fields(V& v, T& e) {
  v("id", e.id, kMust), v("parent", e.parent, kMay), v("source_sha256", e.source_sha256, kMustBlob);
  v("tunables", e.tunables, kMay), v("note", e.note, kMay), v("prediction_us", e.prediction_us, kMay);
}
template <class V, Of<Compile> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("ok", e.ok, kMust), v("cached", e.cached, kMay), v("log", e.log, kMay);
  v("seconds", e.seconds, kMust), v("registers", e.registers, kMay), v("spill_bytes", e.spill_bytes, kMay);
  v("static_smem_bytes", e.static_smem_bytes, kMay), v("ptx_sha256", e.ptx_sha256, kHash);
  v("cubin_sha256", e.cubin_sha256, kHash), v("log_sha256", e.log_sha256, kBlob);
}
template <class V, Of<Gate> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("stage", e.stage, kMust), v("verdict", e.verdict, must_be(kGateVerdicts));
  v("test", e.test, kMay), v("tensor", e.tensor, kMay), v("index", e.index, kMay), v("got", e.got, kMaySigned);
  v("want", e.want, kMaySigned), v("tolerance", e.tolerance, kMay), v("context", e.context, kMay), v("step", e.step, kMay);
  v("seed", e.seed, kMay), v("detail", e.detail, kMay), v("inputs", e.inputs, may_be(kInputs));
}
template <class V, Of<Measurement> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("kind", e.kind, must_be(kKinds)), v("timing", e.timing, may_be(kTimings));
  v("context", e.context, kMust), v("us_median", e.us_median, kMust), v("us_low", e.us_low, kMay);
  v("us_high", e.us_high, kMay), v("n", e.n, kMay), v("raw", e.raw, kMay), v("phases", e.phases, kMay);
  v("launches", e.launches, kMay), v("sm_clock_mhz", e.sm_clock_mhz, kMay), v("power_w", e.power_w, kMay);
  v("temperature_c", e.temperature_c, kMaySigned), v("throttle", e.throttle, kMay);
  v("sm_clock_mhz_high", e.sm_clock_mhz_high, kMay), v("memory_clock_mhz", e.memory_clock_mhz, kMay);
  v("strict_us", e.strict_us, kMay), v("token_loop_us", e.token_loop_us, kMay), v("wall_us", e.wall_us, kMay);
  v("enqueue_us", e.enqueue_us, kMay), v("cold_l2_us", e.cold_l2_us, kMay);
  v("worker", e.worker, kMay), v("against", e.against, kMay), v("raw_against", e.raw_against, kMay);
  v("discarded", e.discarded, kMay), v("barriers", e.barriers, kMay);
}
template <class V, Of<Decision> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("verdict", e.verdict, must_be(kDecisions));
  v("outcome", e.outcome, must_be(kOutcomes)), v("us", e.us, kMay), v("ratio", e.ratio, kMay), v("low", e.low, kMay);
  v("high", e.high, kMay), v("n", e.n, kMay), v("incumbent", e.incumbent, kMay), v("reason", e.reason, kMay);
  v("workers", e.workers, kMay), v("discarded", e.discarded, kMay), v("screen_ratio", e.screen_ratio, kMay);
  v("screen_low", e.screen_low, kMay), v("screen_high", e.screen_high, kMay), v("seconds", e.seconds, kMay);
}
template <class V, Of<Checkpoint> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("source_sha256", e.source_sha256, kMustBlob);
  v("cubin_sha256", e.cubin_sha256, kHash), v("us", e.us, kMust);
}
template <class V, Of<Profile> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("context", e.context, kMust), v("phases", e.phases, kMay);
  v("kind", e.kind, may_be(kKinds)), v("token_us", e.token_us, kMay), v("critical_us", e.critical_us, kMay);
  v("launch_us", e.launch_us, kMay), v("unmarked_us", e.unmarked_us, kMay);
}
template <class V, Of<Note> T>
void fields(V& v, T& e) {
  v("author", e.author, kMay), v("text", e.text, kMust);
}
template <class V, Of<Wait> T>
void fields(V& v, T& e) {
  v("what", e.what, kMust), v("seconds", e.seconds, kMust);
}
template <class V, Of<InfraError> T>
void fields(V& v, T& e) {
  v("what", e.what, kMust), v("candidate", e.candidate, kMay);
}
template <class V, Of<Resume> T>
void fields(V& v, T& e) {
  v("previous_uuid", e.previous_uuid, kMay), v("uuid", e.uuid, kMay), v("spent_s", e.spent_s, kMust);
  v("recovered_events", e.recovered_events, kMay), v("torn_line", e.torn_line, kMay);
}
template <class V, Of<Regrade> T>
void fields(V& v, T& e) {
  v("candidate", e.candidate, kMust), v("outcome", e.outcome, must_be(kOutcomes)), v("kind", e.kind, must_be(kKinds));
  v("times", e.times, kMay), v("us", e.us, kMay), v("seed", e.seed, kMay), v("quarantine", e.quarantine, kMay);
}
template <class V, Of<SessionEnd> T>
void fields(V& v, T& e) {
  v("reason", e.reason, must_be(kEndings)), v("detail", e.detail, kMay), v("best", e.best, kMay);
  v("best_us", e.best_us, kMay), v("over_seed", e.over_seed, kMay), v("over_baseline", e.over_baseline, kMay);
  v("baseline", e.baseline, kMay), v("decisions", e.decisions, kMay), v("kept", e.kept, kMay);
  v("attribution_s", e.attribution_s, kMay), v("session_seed", e.session_seed, kMay);
  v("experiments_per_hour", e.experiments_per_hour, kMay), v("decision_s_median", e.decision_s_median, kMay);
}

}  // namespace onelaunch::traces
