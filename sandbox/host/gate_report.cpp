#include "sandbox/host/gate_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace onelaunch::sandbox {
namespace {

// Error over tolerance: 1 is the limit.
double closeness(const tasks::Finding& finding) {
  if (!(finding.tolerance > 0)) return 0;
  const double error = finding.test == "rel_l2" ? std::abs(finding.got) : std::abs(finding.got - finding.want);
  return error / finding.tolerance;
}

std::string times_over(const tasks::Finding& finding) {
  const double close = closeness(finding);
  if (!(close > 1)) return "";
  char text[64];
  std::snprintf(text, sizeof text, close < 100 ? ": %.2f times what is allowed" : ": %.0f times what is allowed", close);
  return text;
}

GateResult result_of(const tasks::Finding& finding, const GatePlace& place) {
  GateResult gate;
  gate.stage = "correctness";
  gate.passed = finding.ok;
  gate.test = finding.test;
  gate.tensor = finding.tensor;
  gate.index = finding.index;
  gate.got = finding.got;
  gate.want = finding.want;
  gate.tolerance = finding.tolerance;
  gate.context = place.context;
  gate.step = place.step;
  gate.seed = place.seed;
  gate.detail = finding.detail;
  if (!finding.ok) gate.detail += times_over(finding);
  if (place.strict) gate.detail += " [strict inputs]";
  return gate;
}

std::string sentence(const tasks::Finding& finding, const GatePlace& place) {
  char numbers[160] = "";
  if (finding.detail.empty())
    std::snprintf(numbers, sizeof numbers, "%s of %s fails at %zu: got %.6g, want %.6g, tolerance %.3g", finding.test.c_str(),
                  finding.tensor.c_str(), finding.index, finding.got, finding.want, finding.tolerance);
  std::string text = (finding.detail.empty() ? numbers : finding.detail) + times_over(finding);
  text += " (context " + std::to_string(place.context) + ", step " + std::to_string(place.step);
  text += place.strict ? ", strict inputs)" : ")";
  return text;
}

}  // namespace

bool GateReport::add(const std::vector<tasks::Finding>& findings, const GatePlace& place) {
  bool all_passed = true;
  for (const tasks::Finding& finding : findings) {
    if (!finding.ok) {
      if (failures_.empty()) first_failure_ = sentence(finding, place);
      failures_.push_back(result_of(finding, place));
      all_passed = false;
      continue;
    }
    const double close = closeness(finding);
    auto& [known, gate] = closest_[finding.test];
    if (gate.test.empty() || close > known) known = close, gate = result_of(finding, place);
  }
  return all_passed;
}

std::vector<GateResult> GateReport::gates() const {
  if (!failures_.empty()) return failures_;
  std::vector<std::pair<double, GateResult>> passes;
  for (const auto& [key, pass] : closest_) passes.push_back(pass);
  std::ranges::stable_sort(passes, std::greater<>(), &std::pair<double, GateResult>::first);
  std::vector<GateResult> gates;
  for (auto& [close, gate] : passes) gates.push_back(std::move(gate));
  return gates;
}

std::string GateReport::first_failure() const { return first_failure_; }

}  // namespace onelaunch::sandbox
