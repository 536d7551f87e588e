#include "traces/event_line.h"

#include "traces/attempt_text.h"
#include "traces/text.h"

namespace onelaunch::traces {
namespace {

constexpr std::size_t kWidth = 240;

std::string seconds(double value) { return fixed(value, value < 10 ? 2 : 1) + " s"; }
std::string us(double value) { return micros(value) + " us"; }
std::string at_context(std::int64_t context) { return " at context " + std::to_string(context); }

std::string interval(double low, double high) {
  return low > 0 && high > low ? " (" + micros(low) + " to " + micros(high) + ")" : "";
}

std::string geomean(const std::vector<ContextTime>& times) {
  std::string text;
  for (const ContextTime& time : times)
    text += (text.empty() ? "" : ", ") + us(time.us_median) + at_context(time.context);
  return text;
}

// One overload for each type of event.
struct Liner {
  std::string operator()(const SessionStart& e) const {
    return e.task + (e.variant.empty() ? "" : " (" + e.variant + ")") + ", agent " + e.agent + ", device " + e.device +
           ", cap " + seconds(e.wall_s) + ", onelaunch " + e.harness_version;
  }
  std::string operator()(const DeviceSeen& e) const {
    return e.name + (e.uuid.empty() ? "" : " " + e.uuid) + (e.sms > 0 ? ", " + std::to_string(e.sms) + " SMs" : "") +
           (e.driver_version.empty() ? "" : ", driver " + e.driver_version) +
           (e.nvrtc_version.empty() ? "" : ", NVRTC " + e.nvrtc_version);
  }
  std::string operator()(const Ceilings& e) const {
    std::string text = "stream " + fixed(e.stream_tb_s, 2) + " TB/s, grid barrier " + us(e.grid_barrier_us) + ", launch " +
                       us(e.launch_us) + (e.modelled ? ", from a profile" : ", measured");
    for (const auto& floor : e.floors) text += "; floor " + us(floor.us) + at_context(floor.context);
    return text;
  }
  std::string operator()(const Noise& e) const {
    return "A/A half-width " + percent(e.half_width) + (e.modelled ? ", modelled" : " of " + std::to_string(e.n) + " pairs");
  }
  std::string operator()(const Baseline& e) const {
    return e.name + ": " + geomean(e.times) + ", " + e.kind + ", " + std::to_string(e.launches) + " launches" +
           (e.correct ? "" : ", NOT CORRECT");
  }
  std::string operator()(const Control& e) const {
    return e.name + (e.failed_as_it_must ? " failed, as it must: " : " DID NOT FAIL: ") + e.outcome;
  }
  std::string operator()(const ModelRequest& e) const {
    return e.provider + " " + e.model + ", turn " + std::to_string(e.turn);
  }
  std::string operator()(const ModelResponse& e) const {
    return e.provider + " " + e.model + ", turn " + std::to_string(e.turn) + ": " + std::to_string(e.input_tokens) + " in, " +
           std::to_string(e.cache_read_tokens) + " from the cache, " + std::to_string(e.output_tokens) + " out, " +
           seconds(e.seconds) + (e.cost_usd ? ", $" + fixed(*e.cost_usd, 4) : "") +
           (e.stop_reason.empty() ? "" : ", " + e.stop_reason);
  }
  std::string operator()(const ToolCall& e) const { return e.name + " " + e.id; }
  std::string operator()(const ToolResult& e) const {
    return e.name + " " + e.id + (e.error ? " failed" : " done") + " after " + seconds(e.seconds);
  }
  std::string operator()(const Candidate& e) const {
    std::string text = e.id + (e.parent.empty() ? "" : " from " + e.parent) + ", source " + e.source_sha256.substr(0, 12);
    for (const auto& [name, value] : e.tunables) text += " " + name + "=" + value;
    if (e.prediction_us) text += ", predicted " + us(*e.prediction_us);
    return text + (e.note.empty() ? "" : "; " + e.note);
  }
  std::string operator()(const Compile& e) const {
    if (!e.ok) return "failed after " + seconds(e.seconds) + ": " + e.log;
    return (e.cached ? "from the cache in " : "in ") + seconds(e.seconds) + ", " + std::to_string(e.registers) +
           " registers, " + std::to_string(e.spill_bytes) + " bytes spilled";
  }
  std::string operator()(const Gate& e) const {
    if (e.verdict == "fail") return gate_line(e);
    return e.stage + (e.test.empty() ? "" : "/" + e.test) + " passed" + (e.detail.empty() ? "" : ": " + e.detail);
  }
  std::string operator()(const Measurement& e) const {
    std::string text = e.timing + ": " + us(e.us_median) + interval(e.us_low, e.us_high) + at_context(e.context) + ", " +
                       e.kind + ", n " + std::to_string(e.n);
    if (!e.against.empty()) text += ", in turns with " + e.against;
    if (e.launches) text += ", " + std::to_string(*e.launches) + " launches a token";
    if (!e.throttle.empty()) text += ", throttled: " + e.throttle;
    return text;
  }
  std::string operator()(const Decision& e) const {
    return e.verdict + " (" + e.outcome + ")" + (e.us ? ", " + us(*e.us) : "") +
           (e.ratio ? ", " + factor(*e.ratio) + (e.incumbent.empty() ? "" : " of " + e.incumbent) : "") + (e.reason.empty() ? "" : "; " + e.reason);
  }
  std::string operator()(const Checkpoint& e) const { return "best is " + e.candidate + ", " + us(e.us); }
  std::string operator()(const Profile& e) const {
    return std::to_string(e.phases.size()) + " phases" + at_context(e.context) + (e.token_us ? ", " + us(*e.token_us) : "");
  }
  std::string operator()(const Note& e) const { return (e.author.empty() ? "" : e.author + ": ") + e.text; }
  std::string operator()(const Wait& e) const { return seconds(e.seconds) + " for " + e.what; }
  std::string operator()(const InfraError& e) const { return e.what; }
  std::string operator()(const Resume& e) const {
    return "after " + seconds(e.spent_s) + (e.uuid == e.previous_uuid ? "" : ", on another device: " + e.uuid) +
           (e.torn_line ? ", a torn line was put aside" : "");
  }
  std::string operator()(const Regrade& e) const {
    return e.candidate + " " + e.outcome + " with fresh weights" + (e.us > 0 ? ", " + us(e.us) : "") +
           (e.quarantine.empty() ? "" : "; quarantined: " + e.quarantine);
  }
  std::string operator()(const SessionEnd& e) const {
    return e.reason + (e.detail.empty() ? "" : " (" + e.detail + ")") + ": " + std::to_string(e.decisions) + " decided, " +
           std::to_string(e.kept) + " kept" + (e.best_us ? ", best " + e.best + " " + us(*e.best_us) : "");
  }
};

}  // namespace

std::string event_line(const Event& event) { return one_line(std::visit(Liner{}, event), kWidth); }

std::string candidate_of(const Event& event) {
  return std::visit(
      [](const auto& e) -> std::string {
        if constexpr (requires { std::string(e.candidate); }) return e.candidate;
        else if constexpr (requires { e.candidate.value_or(""); }) return e.candidate.value_or("");
        else if constexpr (requires { e.source_sha256; }) return e.id;
        else return "";
      },
      event);
}

}  // namespace onelaunch::traces
