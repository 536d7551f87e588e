#include "agent/tools/compile_text.h"

#include <vector>

#include "agent/tools/reporting_text.h"
#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

using sandbox::LaunchDeclaration;

constexpr int kErrorsShown = 5;

std::string launch_text(const sandbox::Compiled& compiled) {
  const LaunchDeclaration& launch = compiled.launch;
  const bool per_sm = (launch.grid & LaunchDeclaration::kPerSm) != 0;
  std::string text = "launch: " + std::to_string(launch.grid & (LaunchDeclaration::kPerSm - 1)) + (per_sm ? " blocks per SM" : " blocks") +
                     " of " + std::to_string(launch.block) + " threads";
  if (launch.cluster > 1) text += ", clusters of " + std::to_string(launch.cluster);
  text += "; " + std::to_string(launch.dynamic_smem) + " bytes of dynamic shared memory, sync " + std::to_string(launch.sync_bytes) +
          ", scratch " + std::to_string(launch.scratch_bytes) + ", prepared " + std::to_string(launch.prepared_bytes) + "\n";
  for (const sandbox::PrepareDeclaration& prepare : compiled.prepares)
    text += "prepare " + prepare.name + ": " + std::to_string(prepare.grid) + " blocks of " + std::to_string(prepare.block) + " threads\n";
  return text;
}

std::string resources_text(const sandbox::Resources& resources) {
  std::string text = std::to_string(resources.registers) + " registers a thread, " + std::to_string(resources.static_smem_bytes) +
                     " bytes of static shared memory, " + std::to_string(resources.spill_bytes) + " bytes of spills, " +
                     std::to_string(resources.local_bytes) + " bytes of local memory\n";
  if (resources.spill_bytes > 0) text += "Spills cost memory traffic in every loop they are in.\n";
  return text;
}

}  // namespace

std::string values_text(const sandbox::TunableValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string first_errors(const std::string& log, std::size_t bytes_max) {
  int errors = 0;
  std::string shown;
  for (const std::string_view line : lines_of(log)) {
    if (line.find(": error") != std::string_view::npos || line.find("catastrophic error") != std::string_view::npos) ++errors;
    if (errors <= kErrorsShown) shown.append(line).append("\n");
  }
  shown = clipped(shown, bytes_max, "the first error usually causes the others");
  if (errors > kErrorsShown) shown += "... and " + std::to_string(errors - kErrorsShown) + " more errors after these\n";
  return shown;
}

std::string compile_text(const sandbox::Compiled& compiled, std::size_t bytes_max) {
  const sandbox::Outcome& outcome = compiled.outcome;
  if (const auto* failed = std::get_if<sandbox::CompileFailed>(&outcome))
    return "Does not compile:\n" + first_errors(failed->log, bytes_max);
  if (const auto* refused = std::get_if<sandbox::Refused>(&outcome))
    return "Refused by the static check (" + refused->rule + "): " + clipped(refused->message, bytes_max, "");
  if (!std::holds_alternative<sandbox::Passed>(outcome)) return "Not compiled: " + sandbox::explain(outcome);
  std::string text = "Compiled" + (compiled.cached ? std::string(" (known already)") : number_text(" in %.1f s", compiled.seconds)) + ".\n";
  text += resources_text(compiled.resources) + launch_text(compiled);
  if (!compiled.tunables.empty()) text += "tunables: " + values_text(compiled.tunables) + "\n";
  if (!compiled.log.empty()) text += "compiler's log:\n" + clipped(compiled.log, bytes_max, "mostly warnings") + "\n";
  return text;
}

}  // namespace onelaunch::agent
