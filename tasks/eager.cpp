#include "tasks/eager.h"

#include "tasks/ops/eager_builder.h"

namespace onelaunch::tasks {

EagerPlan eager_plan(const Task& task, std::int64_t context, std::int64_t capacity) {
  EagerBuilder builder(context, capacity);
  std::vector<EagerRouting> routings;
  for (const auto& [name, value] : task.values) {
    const Operand result{.name = name, .dtype = value.dtype, .shape = value.shape};
    builder.buffer(name, result.elements(), value.dtype);
  }
  for (const Op& op : task.ops) {
    const OpView view = view_of(task, op);
    view.kind->eager(view, builder);
    if (view.kind->chooses) routings.push_back({view.in[0].name, view.in[0].dtype, view.in[0].elements(), view.count("k")});
  }
  EagerPlan plan = builder.take();
  plan.routings = std::move(routings);
  return plan;
}

}  // namespace onelaunch::tasks
