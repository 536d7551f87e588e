#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/cli/kernel_comparison.h"
#include "agent/cli/terminal.h"

namespace onelaunch::cli {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

std::vector<std::int64_t> contexts_of(const std::vector<ComparedKernel>& kernels) {
  std::vector<std::int64_t> contexts;
  for (const ComparedKernel& kernel : kernels)
    for (const sandbox::Measurement& time : kernel.times)
      if (std::ranges::find(contexts, time.context) == contexts.end()) contexts.push_back(time.context);
  return contexts;
}

std::string us_at(const ComparedKernel& kernel, std::int64_t context) {
  for (const sandbox::Measurement& time : kernel.times)
    if (time.context == context) return format_number("%.2f", time.us_median);
  return "-";
}

std::string speed_text(const ComparedKernel& kernel) {
  if (kernel.first) return "the first";
  if (!kernel.over_first) return "-";
  const SpeedOverFirst& speed = *kernel.over_first;
  std::string text = format_number("%.4fx", speed.ratio);
  if (speed.interval) text += format_number(" [%.4f, ", speed.low) + format_number("%.4f]", speed.high);
  return text;
}

std::string verdict_of(const ComparedKernel& kernel) {
  if (!std::holds_alternative<sandbox::Passed>(kernel.outcome)) return sandbox::name_of(kernel.outcome);
  if (!kernel.quarantine.empty()) return "quarantined";
  std::string text = "passed";
  if (!kernel.over_first) return text;
  if (kernel.over_first->low > 1) return text + ", faster";
  if (kernel.over_first->high < 1) return text + ", slower";
  return text + (kernel.over_first->interval ? ", no difference seen" : ", the same");
}

std::string reason_of(const ComparedKernel& kernel) {
  if (!std::holds_alternative<sandbox::Passed>(kernel.outcome)) return sandbox::explain(kernel.outcome);
  return kernel.quarantine.empty() ? kernel.no_ratio : kernel.quarantine;
}

// The first column is flush left, the last too; the numbers between flush right.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      const bool last = i + 1 == row.size();
      text += (i > 0 ? "  " : "") + (i == 0 ? row[i] + space : last ? row[i] : space + row[i]);
    }
    text += "\n";
  }
  return text;
}

bool is_modelled(const std::vector<ComparedKernel>& kernels) {
  for (const ComparedKernel& kernel : kernels)
    if (!kernel.times.empty()) return kernel.times.front().modelled;
  return false;
}

std::string heading(const std::vector<ComparedKernel>& kernels) {
  const bool timed = std::ranges::any_of(kernels, [](const ComparedKernel& kernel) { return !kernel.times.empty(); });
  if (!timed) return "";
  return is_modelled(kernels) ? "us a token, modelled; speed over the first that passed (more is faster)\n"
                              : "us a token, measured alone; speed over the first that passed (more is faster), in pairs, "
                                "with its 95 % interval within one worker\n";
}

Json kernel_json(const ComparedKernel& kernel) {
  Json json = {{"name", kernel.name},
               {"tunables", kernel.tunables},
               {"outcome", sandbox::name_of(kernel.outcome)},
               {"explanation", sandbox::explain(kernel.outcome)},
               {"passed", kernel.passed()},
               {"first", kernel.first}};
  json["times"] = Json::array();
  for (const sandbox::Measurement& time : kernel.times)
    json["times"].push_back({{"context", time.context},
                             {"kind", time.modelled ? "modelled" : "measured"},
                             {"us", time.us_median},
                             {"us_low", time.us_low},
                             {"us_high", time.us_high},
                             {"n", time.n}});
  if (kernel.us) json["us"] = *kernel.us;
  if (kernel.over_first) {
    const SpeedOverFirst& speed = *kernel.over_first;
    json["speed_over_first"] = {{"ratio", speed.ratio}};
    if (speed.interval) json["speed_over_first"].update({{"low", speed.low}, {"high", speed.high}, {"pairs", speed.pairs}});
  }
  if (!kernel.no_ratio.empty()) json["no_ratio"] = kernel.no_ratio;
  if (!kernel.quarantine.empty()) json["quarantine"] = kernel.quarantine;
  return json;
}

}  // namespace

std::string comparison_text(const std::vector<ComparedKernel>& kernels) {
  const std::vector<std::int64_t> contexts = contexts_of(kernels);
  Row head = {"kernel"};
  for (const std::int64_t context : contexts) head.push_back("at " + std::to_string(context));
  head.insert(head.end(), {"geomean", "speed over the first", "verdict"});
  std::vector<Row> rows = {head};
  for (const ComparedKernel& kernel : kernels) {
    Row row = {kernel.name};
    for (const std::int64_t context : contexts) row.push_back(us_at(kernel, context));
    row.insert(row.end(), {kernel.us ? format_number("%.2f", *kernel.us) : "-", speed_text(kernel), verdict_of(kernel)});
    rows.push_back(std::move(row));
  }
  std::string text = heading(kernels) + table(rows);
  for (const ComparedKernel& kernel : kernels)
    if (const std::string reason = reason_of(kernel); !reason.empty())
      text += "\n" + kernel.name + ": " + verdict_of(kernel) + "\n" + reason + (reason.back() == '\n' ? "" : "\n");
  return text;
}

std::string comparison_json(const std::vector<ComparedKernel>& kernels) {
  Json json = Json::array();
  for (const ComparedKernel& kernel : kernels) json.push_back(kernel_json(kernel));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace onelaunch::cli
