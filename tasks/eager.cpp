#include "tasks/eager.h"

#include "tasks/ops/eager_builder.h"

namespace onelaunch::tasks {

EagerPlan eager_plan(const Task& task, std::int64_t capacity, EagerSums sums) {
  EagerBuilder builder(capacity, sums);
  for (const auto& [name, value] : task.values) {
    const Operand result{.name = name, .dtype = value.dtype, .shape = value.shape};
    builder.buffer(name, result.elements(), value.dtype);
  }
  for (const Op& op : task.ops) {
    const OpView view = view_of(task, op);
    view.kind->eager(view, builder);
  }
  return builder.take();
}

}  // namespace onelaunch::tasks
