#include "sandbox/host/eager_order.h"

#include <cstring>

#include "sandbox/host/candidate_buffers.h"

namespace onelaunch::sandbox {

std::string eager_buffer(const tasks::Task& task, const std::string& name) {
  const tasks::Tensor* tensor = task.find(name);
  return tensor != nullptr ? buffer_name(*tensor) : "intermediate " + name;
}

LaunchOrder eager_order(const tasks::Task& task, const tasks::EagerLaunch& launch, std::int64_t position,
                        std::int64_t capacity) {
  using Kind = tasks::EagerArgument::Kind;
  LaunchOrder order = own_order(kEagerModule, launch.entry, launch.arguments.size());
  order.grid = launch.grid;
  order.block = launch.block;
  order.dynamic_smem = launch.dynamic_smem;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const tasks::EagerArgument& argument = launch.arguments[i];
    const std::size_t offset = i * sizeof(std::uint64_t);
    const std::int64_t word = argument.kind == Kind::position ? position : capacity;
    if (argument.kind == Kind::buffer)
      order.relocations.push_back({offset, eager_buffer(task, argument.buffer), 0});
    else
      std::memcpy(order.parameters.data() + offset, &word, sizeof word);
  }
  return order;
}

}  // namespace onelaunch::sandbox
