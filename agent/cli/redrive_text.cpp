#include <nlohmann/json.hpp>

#include "agent/cli/redrive.h"
#include "agent/cli/terminal.h"

namespace onelaunch::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string decided(const std::string& verdict, const std::string& outcome) {
  if (verdict.empty()) return "not judged";
  return outcome.empty() || outcome == "passed" ? verdict : verdict + " (" + outcome + ")";
}

}  // namespace

std::string redrive_text(const RedriveReport& report) {
  std::string text = report.run + ": " + report.task + " (" + report.variant + "), again on " + report.device + "\n";
  for (const std::string& remark : report.remarks) text += "note: " + remark + "\n";
  std::size_t judged = 0;
  for (const RedrivenDecision& decision : report.decisions) {
    judged += decision.verdict.empty() ? 0 : 1;
    if (decision.verdict.empty() || decision.same()) continue;
    text += decision.id + ": recorded " + decided(decision.recorded_verdict, decision.recorded_outcome) + ", now " +
            decided(decision.verdict, decision.outcome) + ": " + first_line(decision.reason) + "\n";
  }
  text += std::to_string(judged) + " of " + std::to_string(report.decisions.size()) + " decisions taken again; ";
  text += report.differing() == 0 ? "none differs\n" : std::to_string(report.differing()) + " differ\n";
  return text;
}

std::string redrive_json(const RedriveReport& report) {
  Json json = {{"format", "onelaunch.redrive/1"}, {"run", report.run},         {"task", report.task},
               {"variant", report.variant},       {"device", report.device},   {"recorded_device", report.recorded_device},
               {"remarks", report.remarks},       {"differing", report.differing()}};
  json["decisions"] = Json::array();
  for (const RedrivenDecision& decision : report.decisions)
    json["decisions"].push_back({{"candidate", decision.id},
                                 {"recorded", {{"verdict", decision.recorded_verdict}, {"outcome", decision.recorded_outcome}}},
                                 {"now", {{"verdict", decision.verdict}, {"outcome", decision.outcome}, {"reason", decision.reason}}},
                                 {"same", decision.same()}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace onelaunch::cli
