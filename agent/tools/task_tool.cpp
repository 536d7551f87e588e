#include <limits>

#include "agent/tools/desk.h"
#include "agent/tools/reporting_text.h"
#include "agent/tools/text_lines.h"
#include "tasks/floor.h"
#include "tasks/header.h"

namespace onelaunch::agent {
namespace {

std::string floor_text(const tasks::Task& task, const sandbox::DeviceInfo& device) {
  std::string text = "The least that a token moves and computes, counted from the graph; time at the best stream of this device.\n";
  for (const tasks::SweepPoint& point : task.sweep) {
    const tasks::Cost cost = tasks::token_cost(task, point.context);
    text += "context " + std::to_string(point.context) + ": " + number_text("%.3f MB", cost.bytes() / 1e6) + number_text(", %.2f MFLOP", cost.flops / 1e6);
    if (device.stream_tb_s > 0) text += number_text(", %.3f us", cost.bytes() / (device.stream_tb_s * 1e6));
    text += "\n";
  }
  if (task.sweep.empty()) return text;
  text += "by op, context " + std::to_string(task.sweep.front().context) + ":\n";
  for (const tasks::OpCost& op : tasks::op_costs(task, task.sweep.front().context))
    text += "  " + op.op + number_text(": %.4f MB", op.cost.bytes() / 1e6) + number_text(", %.3f MFLOP\n", op.cost.flops / 1e6);
  return text;
}

std::string probes_text(const tasks::Task& task) {
  std::string text =
      "OL_PHASE(\"name\") begins a phase, in every block that comes by; `profile` tells the time of each. A name that begins with an op's\n"
      "name (or several with +) gets its floor; one that begins with `wait` counts as waiting. ol::grid_barrier() is marked by itself.\n"
      "OL_PROBE(\"result\", pointer, count) says that these values should be that intermediate result of the task; `profile` compares\n"
      "them with the reference. A fourth argument is the first element's index, a fifth replaces a * in the name. All threads of a block\n"
      "take part. Neither costs anything in builds that are timed.\nintermediate results:\n";
  for (const auto& [name, value] : task.values) {
    text += "  " + name + " " + tasks::name_of(value.dtype) + " [";
    for (std::size_t i = 0; i < value.shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(value.shape[i]);
    text += "]\n";
  }
  return text;
}

std::string prose_text(const tasks::Task& task) {
  std::string text = task.name + " (" + (task.variant.empty() ? "full" : task.variant) + "): " + task.title + "\n\n" + task.prose + "\n\ndims:";
  for (const auto& [name, value] : task.dims) text += " " + name + "=" + std::to_string(value);
  text += "\ncontexts that are checked and timed:";
  for (const tasks::SweepPoint& point : task.sweep) text += " " + std::to_string(point.context);
  return text + "\n";
}

std::string section_text(const Desk& desk, const std::string& section) {
  const tasks::Task& task = desk.bench.task();
  if (section == "prose") return prose_text(task);
  if (section == "rules") return task.rules.empty() ? "This task has no rules beyond the contract.\n" : task.rules + "\n";
  if (section == "header") return tasks::candidate_header(task);
  if (section == "floor") return floor_text(task, desk.bench.device());
  return probes_text(task);
}

}  // namespace

ToolReply show_task(Desk& desk, const Arguments& arguments, Deadline) {
  const std::string section = arguments.text("section"), text = section_text(desk, section);
  const auto from = static_cast<std::size_t>(arguments.integer("from").value_or(1));
  if (from == 1 && text.size() <= desk.limits.listing_bytes) return answer(text);
  const std::vector<std::string_view> lines = lines_of(text);
  if (from > lines.size()) return refuse("`" + section + "` has " + std::to_string(lines.size()) + " lines.");
  const Listing listing = numbered(lines, from, std::numeric_limits<std::size_t>::max(), desk.limits.listing_bytes);
  std::string part = section + ", lines " + std::to_string(from) + " to " + std::to_string(listing.last) + " of " + std::to_string(lines.size()) + "\n" + listing.text;
  if (listing.last < lines.size()) part += "... go on with from " + std::to_string(listing.last + 1) + "\n";
  return answer(part);
}

}  // namespace onelaunch::agent
