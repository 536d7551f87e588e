#include "tasks/floor.h"

#include <set>

#include "tasks/ops/op.h"

namespace onelaunch::tasks {
namespace {

class Ledger {
 public:
  Ledger(const Task& task, std::int64_t context) : task_(task), context_(context) {}

  Cost charge(const Op& op) {
    const OpView view = view_of(task_, op);
    Cost cost;
    cost.flops = view.kind->flops(view, context_);
    for (const Operand& operand : view.in) cost.bytes_read += read(operand, view);
    for (const Operand& operand : view.out) {
      if (operand.tensor == nullptr || operand.tensor->role != Role::state || operand.tensor->is_cache()) continue;
      cost.bytes_read += read(operand, view);
      if (written_.insert(operand.name).second)
        cost.bytes_written += static_cast<double>(operand.tensor->bytes(context_));
    }
    return cost;
  }

 private:
  // Whatever several ops read is charged to the first one.
  double read(const Operand& operand, const OpView& view) {
    const bool weight =
        operand.quantised != nullptr || (operand.tensor != nullptr && operand.tensor->role == Role::weight);
    const bool state = operand.tensor != nullptr && operand.tensor->role == Role::state;
    if ((!weight && !state) || !read_.insert(operand.name).second) return 0;
    if (operand.quantised == nullptr) return static_cast<double>(operand.tensor->bytes(context_));
    double bytes = 0;
    for (const char* member : {".packed", ".scale", ".zero"})
      bytes += static_cast<double>(task_.find(operand.name + member)->bytes(context_));
    const auto experts = static_cast<double>(operand.quantised->experts);
    return view.kind->experts_used ? bytes * static_cast<double>(view.kind->experts_used(view)) / experts : bytes;
  }

  const Task& task_;
  std::int64_t context_;
  std::set<std::string> read_, written_;
};

}  // namespace

std::vector<OpCost> op_costs(const Task& task, std::int64_t context) {
  Ledger ledger(task, context);
  std::vector<OpCost> costs;
  for (const Op& op : task.ops) costs.push_back({op.name, ledger.charge(op)});
  return costs;
}

Cost token_cost(const Task& task, std::int64_t context) {
  Cost total;
  for (const OpCost& entry : op_costs(task, context)) {
    total.bytes_read += entry.cost.bytes_read;
    total.bytes_written += entry.cost.bytes_written;
    total.flops += entry.cost.flops;
  }
  return total;
}

}  // namespace onelaunch::tasks
