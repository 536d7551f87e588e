#include "traces/attempt_text.h"

#include "traces/text.h"

namespace onelaunch::traces {
namespace {

constexpr std::size_t kDetailWidth = 160;

// "BLOCK 256->512, SPLIT 4" against the parent; the seed shows all of its values.
std::string tunables_changed(const Candidate& candidate, const Attempt* parent) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + one_line(what, 80); };
  for (const auto& [name, value] : candidate.tunables) {
    if (!parent) {
      add(name + "=" + value);
      continue;
    }
    const auto before = parent->candidate.tunables.find(name);
    if (before == parent->candidate.tunables.end()) add(name + "=" + value);
    else if (before->second != value) add(name + " " + before->second + "->" + value);
  }
  if (!parent) return text;
  for (const auto& [name, value] : parent->candidate.tunables)
    if (!candidate.tunables.contains(name)) add("no " + name);
  return text;
}

}  // namespace

std::string changes(const Attempt& attempt, const Attempt* parent) {
  std::string text = parent ? "" : "seed";
  if (parent && parent->candidate.source_sha256 != attempt.candidate.source_sha256) text = "new source";
  const std::string tunables = tunables_changed(attempt.candidate, parent);
  if (!text.empty() && !tunables.empty()) text += ", ";
  text += tunables;
  return text.empty() ? "same again" : text;
}

std::string gate_line(const Gate& gate) {
  std::string text = one_line(gate.stage);
  if (!gate.test.empty()) text += "/" + one_line(gate.test);
  text += " failed";
  if (!gate.tensor.empty()) text += ": " + one_line(gate.tensor) + "[" + std::to_string(gate.index) + "]";
  if (gate.got || gate.want)
    text += " got " + (gate.got ? fixed(*gate.got, 6) : "not finite") + ", want " +
            (gate.want ? fixed(*gate.want, 6) : "not finite") + ", tolerance " + fixed(gate.tolerance, 6);
  if (!gate.tensor.empty())
    text += " (context " + std::to_string(gate.context) + ", step " + std::to_string(gate.step) +
            (gate.inputs.empty() ? "" : ", " + one_line(gate.inputs)) + ", seed " + std::to_string(gate.seed) + ")";
  if (!gate.detail.empty()) text += " " + one_line(gate.detail, kDetailWidth);
  return text;
}

}  // namespace onelaunch::traces
