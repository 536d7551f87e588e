#include "agent/cli/report_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "agent/cli/terminal.h"
#include "agent/loop/budget.h"

namespace onelaunch::cli {
namespace {

constexpr std::size_t kReasonColumns = 100;

const char* kind(bool modelled) { return modelled ? "modelled" : "measured"; }

std::string over(const char* format, const std::optional<double>& ratio) {
  return ratio ? format_number(format, *ratio) : std::string();
}

std::string shortened(std::string text) {
  if (text.size() > kReasonColumns) text = text.substr(0, kReasonColumns - 3) + "...";
  return text;
}

std::string verdict_word(agent::Verdict verdict) { return verdict == agent::Verdict::keep ? "KEEP" : name_of(verdict); }

std::string gate_line(const sandbox::GateResult& gate) {
  std::ostringstream line;
  line << "  " << (gate.passed ? "pass" : "FAIL") << "  " << gate.stage;
  if (!gate.test.empty()) line << " " << gate.test;
  if (!gate.tensor.empty()) line << " of " << gate.tensor;
  if (gate.stage == "correctness")
    line << ", context " << gate.context << ", step " << gate.step << ": got " << format_number("%.6g", gate.got)
         << ", want " << format_number("%.6g", gate.want) << ", tolerance " << format_number("%.3g", gate.tolerance);
  if (!gate.detail.empty()) line << (gate.stage == "correctness" ? "\n        " : ": ") << gate.detail;
  return line.str() + "\n";
}

// What the clock on a GPU says, and what may have disturbed it.
std::string measured_text(const sandbox::Measurement& time, const sandbox::DeviceTimes& device) {
  std::ostringstream text;
  text << "  context " << time.context << ": " << format_number("%.2f", time.us_median) << " us a token (measured, "
       << format_number("%.2f", time.us_low) << " to " << format_number("%.2f", time.us_high) << ", n " << time.n
       << ")\n    one weight set " << format_number("%.2f", device.token_loop_us) << ", cold "
       << format_number("%.2f", device.cold_us) << ", wall " << format_number("%.2f", device.wall_us) << ", enqueue "
       << format_number("%.2f us", device.enqueue_us) << "; strict / nominal "
       << format_number("%.3f", device.strict_over_nominal) << "; " << format_number("%g", device.launches)
       << " launches a token\n    SM " << device.sm_mhz_low << " to " << device.sm_mhz_high << " MHz, memory "
       << device.memory_mhz << " MHz, up to " << device.power_w_high << " W and " << device.temperature_c_high << " C, "
       << (device.throttle_reasons == 0 ? "never throttled" : "THROTTLED, reasons " + std::to_string(device.throttle_reasons))
       << "\n";
  return text.str();
}

std::string measurement_text(const sandbox::Measurement& time) {
  if (time.device) return measured_text(time, *time.device);
  std::ostringstream text;
  text << "  context " << time.context << ": " << format_number("%.2f", time.us_median) << " us a token ("
       << kind(time.modelled) << "), " << format_number("%.2f", time.dram_mb) << " MB from memory, " << time.barriers
       << " grid barriers, " << time.warp_instructions << " warp instructions";
  if (time.host_seconds > 0) text << ", " << format_number("%.2f", time.host_seconds) << " s a token on this machine";
  text << "\n";
  for (const sandbox::PhaseTime& phase : time.phases)
    text << "    " << phase.name << std::string(phase.name.size() < 24 ? 24 - phase.name.size() : 1, ' ')
         << format_number("%9.2f us", phase.us) << format_number("%9.2f MB", phase.dram_mb) << "  " << phase.bound << "\n";
  return text.str();
}

}  // namespace

std::string report_text(const agent::Report& report) {
  std::ostringstream text;
  text << report.candidate << ": " << verdict_word(report.verdict) << " (" << report.outcome << ")\n" << report.reason << "\n";
  for (const agent::ReportedTime& time : report.times)
    text << "  context " << time.context << ": " << format_number("%.2f", time.us) << " us (" << kind(report.modelled) << ")\n";
  if (report.us) text << "  score: " << format_number("%.2f", *report.us) << " us " << kind(report.modelled);
  if (report.us && report.over_incumbent) text << ", " << format_number("%.3fx", *report.over_incumbent) << " over " << report.incumbent;
  if (report.us && !report.modelled && report.low && report.high)
    text << " (" << format_number("%.4f", *report.low) << " to " << format_number("%.4f", *report.high) << ", n " << report.n
         << (report.workers > 0 ? ", " + std::to_string(report.workers) + " workers" : "") << ")";
  if (report.over_seed) text << ", " << format_number("%.3fx", *report.over_seed) << " over the seed";
  if (report.over_baseline) text << ", " << format_number("%.2fx", *report.over_baseline) << " over " << report.baseline;
  if (report.us) text << "\n";
  if (report.us && report.proposal.prediction_us)
    text << "  predicted: " << format_number("%.2f", *report.proposal.prediction_us) << " us\n";
  text << "  left for new work: " << agent::print_duration(Seconds(report.left_s)) << "\n";
  return text.str();
}

std::string report_line(const agent::Report& report) {
  char head[64];
  std::snprintf(head, sizeof head, "%-8s %-5s", verdict_word(report.verdict).c_str(), report.candidate.c_str());
  std::string line = head;
  if (report.us) {
    line += format_number(" %9.2f us", *report.us) + over(" %7.2fx ", report.over_baseline) + (report.over_baseline ? report.baseline : "") +
            over(" %6.3fx seed", report.over_seed) + "  ";
  } else if (!report.times.empty()) {
    line += format_number(" %9.2f us", report.times.front().us) + " at context " +
            std::to_string(report.times.front().context) + over(", %.3fx ", report.over_incumbent) + report.incumbent + "  ";
  } else {
    line += " " + shortened(first_line(report.outcome + ": " + report.reason)) + "  ";
  }
  line += format_values(report.proposal.tunables);
  if (!report.proposal.note.empty() && report.proposal.tunables.empty()) line += shortened(first_line(report.proposal.note));
  return line + "  [" + agent::print_duration(Seconds(report.left_s)) + " left]";
}

std::string grade_text(const sandbox::Grade& grade) {
  std::string text = "gates\n";
  for (const sandbox::GateResult& gate : grade.gates) text += gate_line(gate);
  if (!grade.times.empty()) text += "time\n";
  for (const sandbox::Measurement& time : grade.times) text += measurement_text(time);
  if (!grade.printed.empty()) text += "the kernel printed\n" + grade.printed + "\n";
  return text;
}

Result<sandbox::TunableValues> parse_defines(const std::vector<std::string>& defines) {
  sandbox::TunableValues values;
  for (const std::string& define : defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0) return invalid("-D " + define + ": NAME=VALUE was expected");
    values[define.substr(0, equals)] = define.substr(equals + 1);
  }
  return values;
}

}  // namespace onelaunch::cli
