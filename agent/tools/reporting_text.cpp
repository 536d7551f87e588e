#include "agent/tools/reporting_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace onelaunch::agent {
namespace {

const char* kind(bool modelled) { return modelled ? "modelled" : "measured"; }

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::keep:
      return "KEPT, the new best";
    case Verdict::revert:
      return "right, but not kept";
    case Verdict::reject:
      return "REJECTED";
    case Verdict::quarantine:
      return "QUARANTINED: too fast to be true, and left out until it is explained";
    case Verdict::unjudged:
      return "not judged";
  }
  return "";
}

std::string times_text(const Report& report) {
  std::string text;
  for (const ReportedTime& time : report.times) {
    text += "context " + std::to_string(time.context) + ": " + number_text("%.2f us", time.us);
    if (!report.modelled && time.high_us > time.low_us)
      text += number_text(" (%.2f", time.low_us) + number_text(" to %.2f)", time.high_us);
    text += "\n";
  }
  return text;
}

std::string score_text(const Report& report) {
  if (!report.us) return "";
  std::string text = "score: " + number_text("%.2f us a token, ", *report.us) + kind(report.modelled);
  if (report.over_incumbent && !report.incumbent.empty()) {
    text += number_text("; %.4fx over ", *report.over_incumbent) + report.incumbent;
    if (!report.modelled && report.low && report.high)
      text += number_text(" (%.4f", *report.low) + number_text(" to %.4f, ", *report.high) + std::to_string(report.n) + " pairs in " +
              std::to_string(std::max(1, report.workers)) + " workers)";
  }
  if (report.over_seed) text += number_text("; %.3fx over the seed", *report.over_seed);
  if (report.over_baseline) text += number_text("; %.2fx over ", *report.over_baseline) + report.baseline;
  return text + "\n";
}

std::string prediction_text(const Report& report) {
  if (!report.us || !report.proposal.prediction_us || !(*report.proposal.prediction_us > 0)) return "";
  const double predicted = *report.proposal.prediction_us, off = (*report.us / predicted - 1) * 100;
  std::string text = "predicted: " + number_text("%.2f us", predicted) + number_text(", it is %.1f %%", std::abs(off)) +
                     (off < 0 ? " faster" : " slower") + " than that";
  if (std::abs(off) > 10) text += "; find out why before you build on it";
  return text + "\n";
}

}  // namespace

std::string number_text(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string clock_text(double seconds) {
  const long all = std::max(0L, static_cast<long>(seconds));
  char text[32];
  std::snprintf(text, sizeof text, "%02ld:%02ld:%02ld", all / 3600, all % 3600 / 60, all % 60);
  return text;
}

std::string status_line(const Workbench::Situation& now) {
  std::string line = "[" + clock_text(now.used_s) + " used, " + clock_text(now.left_s) + " left; " + std::to_string(now.decisions) +
                     " decisions, " + std::to_string(now.kept) + " kept";
  if (now.best_us) line += "; best " + now.incumbent + number_text(" %.2f us ", *now.best_us) + kind(now.modelled);
  if (now.best_us && now.seed_us && *now.best_us > 0) line += number_text(", %.2fx seed", *now.seed_us / *now.best_us);
  return line + "]";
}

std::string report_text(const Report& report, const Workbench::Situation& now) {
  std::string text = report.candidate + ": " + verdict_text(report.verdict) + " (" + report.outcome + ")\n";
  if (!report.reason.empty()) text += report.reason + "\n";
  text += times_text(report) + score_text(report) + prediction_text(report);
  if (report.verdict == Verdict::reject || report.verdict == Verdict::revert)
    text += "The candidate file stays as it is; `revert " + now.incumbent + "` puts the best kernel there.\n";
  return text;
}

}  // namespace onelaunch::agent
