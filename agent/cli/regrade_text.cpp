#include <cstdio>
#include <nlohmann/json.hpp>

#include "agent/cli/regrade.h"
#include "agent/cli/terminal.h"

namespace onelaunch::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string padded(const std::string& text, std::size_t width, bool right = false) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

std::string number(const std::optional<double>& value, const char* format) { return value ? format_number(format, *value) : "-"; }

std::string row(const std::string& id, const std::string& recorded, const std::string& here, const std::string& ratio,
                const std::string& outcome) {
  return padded(id, 10) + padded(recorded, 14, true) + padded(here, 14, true) + padded(ratio, 10, true) + "  " + outcome + "\n";
}

std::string comparison_words(const RegradeReport& report) {
  if (report.recorded_kind != report.here_kind)
    return "Recorded times are " + report.recorded_kind + ", those here " + report.here_kind + ": they are not compared.\n";
  if (!report.same_device()) return "Another device than the recorded one: the ratio is that of the machines too.\n";
  return "ratio: here over recorded; above 1 is slower here.\n";
}

Json times_json(const std::string& kind, const std::optional<double>& us, const std::map<std::int64_t, double>& by_context) {
  Json contexts = Json::object();
  for (const auto& [context, time] : by_context) contexts[std::to_string(context)] = time;
  return {{"kind", kind}, {"us", us ? Json(*us) : Json()}, {"us_by_context", contexts}};
}

}  // namespace

std::string regrade_text(const RegradeReport& report) {
  std::string text = report.run + ": " + report.task + " (" + report.variant + ")\n";
  text += "recorded on " + report.recorded_device + " (" + report.recorded_kind + "), here " + report.here_device + " (" +
          report.here_kind + ")\n";
  for (const std::string& remark : report.remarks) text += "note: " + remark + "\n";
  text += "\n" + row("candidate", "recorded us", "here us", "ratio", "outcome here");
  for (const RegradedKernel& kernel : report.kernels) {
    text += row(kernel.id, number(kernel.recorded, "%.2f"), number(kernel.here, "%.2f"), number(kernel.ratio, "%.3f"),
                kernel.outcome + (kernel.quarantine.empty() ? "" : ", quarantined: " + kernel.quarantine));
    if (!kernel.explanation.empty()) text += "          " + first_line(kernel.explanation) + "\n";
  }
  return text + "\n" + comparison_words(report);
}

std::string regrade_json(const RegradeReport& report) {
  Json json = {{"format", "onelaunch.regrade/1"},
               {"run", report.run},
               {"task", report.task},
               {"variant", report.variant},
               {"recorded_device", report.recorded_device},
               {"here_device", report.here_device},
               {"same_device", report.same_device()},
               {"remarks", report.remarks}};
  json["candidates"] = Json::array();
  for (const RegradedKernel& kernel : report.kernels) {
    json["candidates"].push_back({{"candidate", kernel.id},
                                  {"outcome", kernel.outcome},
                                  {"explanation", kernel.explanation},
                                  {"quarantine", kernel.quarantine},
                                  {"recorded", times_json(report.recorded_kind, kernel.recorded, kernel.recorded_us)},
                                  {"here", times_json(report.here_kind, kernel.here, kernel.here_us)},
                                  {"ratio", kernel.ratio ? Json(*kernel.ratio) : Json()}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace onelaunch::cli
