#include "agent/prompts/prompts.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "agent/prompts/attempt_table.h"
#include "agent/prompts/texts.h"
#include "base/sha256.h"
#include "tasks/floor.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kKernelBytesMax = 96u << 10;  // a longer one is read with the tool

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Replaces each {name} of the template; what is put in is not looked at again.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{'), close = text.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    const auto value = values.find(text.substr(open + 1, close - open - 1));
    out += text.substr(0, open);
    out += value == values.end() ? std::string(text.substr(open, close - open + 1)) : value->second;
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

std::string sized(const tasks::Task& task) {
  return task.name + " (" + (task.variant.empty() ? "full" : task.variant) + "): " + task.title;
}

std::string floor_lines(const tasks::Task& task, const sandbox::DeviceInfo& device) {
  std::string lines;
  for (const tasks::SweepPoint& point : task.sweep) {
    const double bytes = tasks::token_cost(task, point.context).bytes();
    lines += "- context " + std::to_string(point.context) + ": " + number("%.2f MB", bytes / 1e6);
    if (device.stream_tb_s > 0) lines += number(", %.2f us a token", bytes / (device.stream_tb_s * 1e6));
    lines += "\n";
  }
  return lines;
}

std::string ceilings_line(const sandbox::DeviceInfo& device) {
  return device.name + ", " + std::to_string(device.sms) + " multiprocessors, target " + device.target + ": stream " +
         number("%.2f TB/s", device.stream_tb_s) + number(", grid barrier %.2f us", device.grid_barrier_us) +
         number(", launch %.2f us", device.launch_us) +
         (device.kind == "emu" ? " (numbers of the performance model)." : " (measured on this card).");
}

std::string standing_text(const Workbench::Situation& now) {
  const char* kind = now.modelled ? " modelled" : " measured";
  std::string text = "Times are" + std::string(kind) + ", in us a token, the geometric mean over the contexts.\n\n";
  if (now.seed_us) text += "- seed (c0): " + number("%.2f us", *now.seed_us) + "\n";
  if (now.best_us) text += "- best so far: " + now.incumbent + ", " + number("%.2f us", *now.best_us) + "\n";
  if (now.baseline_us)
    text += "- baseline `" + now.baseline + "`, what one would run without you: " + number("%.2f us", *now.baseline_us) + "\n";
  return text;
}

std::string kernel_text(const Workbench& workbench, const std::string& id) {
  const Result<std::string> source = workbench.source_of(id);
  if (!source) return "It could not be read (" + source.error().message + "); `revert` or `write_kernel` puts one there.";
  const auto lines = std::to_string(std::count(source->begin(), source->end(), '\n'));
  if (source->size() > kKernelBytesMax) return id + " has " + lines + " lines: read them with `read_kernel`.";
  return id + ", " + lines + " lines. The tunables have the values that the file gives as defaults, unless the table of " +
         "attempts says otherwise.\n\n```cuda\n" + *source + (source->ends_with('\n') ? "" : "\n") + "```\n";
}

std::string opening(const Workbench& workbench) {
  const tasks::Task& task = workbench.task();
  const Workbench::Situation now = workbench.situation();
  return filled(first_text(), {{"task", sized(task) + "\n\n" + task.prose},
                               {"rules", task.rules.empty() ? "None beyond the contract." : task.rules},
                               {"standing", standing_text(now)},
                               {"floor", floor_lines(task, workbench.device())},
                               {"ceilings", ceilings_line(workbench.device())},
                               {"history", attempt_table(workbench.history())},
                               {"kernel", kernel_text(workbench, now.incumbent)}});
}

}  // namespace

std::string system_prompt(const sandbox::DeviceInfo& device) {
  std::string text(system_text());
  if (device.target.starts_with("sm_90")) text.append("\n").append(craft_text());
  return text;
}

std::string first_message(const Workbench& workbench) { return opening(workbench); }

std::string restart_message(const Workbench& workbench, const std::string& notes, bool candidate_differs) {
  const char* candidate = candidate_differs ? "It differs from the best kernel: `read_kernel` shows it."
                                            : "It is the best kernel, as shown above.";
  return opening(workbench) + "\n" +
         filled(restart_text(), {{"candidate", candidate}, {"notes", notes.empty() ? "(none)" : notes}});
}

std::string prompts_sha256() {
  std::string all;
  for (const std::string_view text : {system_text(), craft_text(), first_text(), restart_text()})
    all.append(text).append(1, '\0');
  return sha256_hex(all);
}

}  // namespace onelaunch::agent
