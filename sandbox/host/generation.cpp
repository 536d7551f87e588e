#include "sandbox/host/generation.h"

#include <cstring>
#include <functional>

#include "sandbox/host/candidate_buffers.h"

namespace onelaunch::sandbox {
namespace {

constexpr const char* kTable = "quantiles";

// `place_of`: where a tensor that the launch fills lies.
LaunchOrder order_of(const tasks::GeneratorLaunch& launch, std::uint64_t seed,
                     const std::function<Place(const std::string&)>& place_of) {
  using Kind = tasks::GeneratorArgument::Kind;
  LaunchOrder order = own_order(kGeneratorModule, launch.entry, launch.arguments.size());
  order.grid = launch.grid;
  order.block = launch.block;
  order.dynamic_smem = launch.dynamic_smem;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const tasks::GeneratorArgument& argument = launch.arguments[i];
    const std::size_t offset = i * sizeof(std::uint64_t);
    const std::uint64_t word = argument.kind == Kind::seed ? seed : argument.literal;
    std::memcpy(order.parameters.data() + offset, &word, sizeof word);
    if (argument.kind == Kind::table) order.relocations.push_back({offset, kTable, 0});
    if (argument.kind != Kind::tensor) continue;
    const Place place = place_of(argument.tensor);
    order.relocations.push_back({offset, place.buffer, place.addend});
  }
  return order;
}

// The tensor that a launch fills, the first one if several.
const tasks::Tensor& filled_by(const tasks::Task& task, const tasks::GeneratorLaunch& launch) {
  for (const tasks::GeneratorArgument& argument : launch.arguments)
    if (argument.kind == tasks::GeneratorArgument::Kind::tensor) return *task.find(argument.tensor);
  return *task.with(tasks::Role::weight).front();
}

}  // namespace

BufferSpec generator_table() { return {kTable, tasks::generator_table().size(), false, 0}; }

LaunchOrder state_order(const tasks::Task& task, const tasks::Tensor& state, const ChainStart& start, const std::string& buffer) {
  return order_of(tasks::tensor_launch(task, state, start.inputs, start.context, start.capacity), start.seed,
                  [&](const std::string&) { return Place{buffer, 0}; });
}

RunJob generation(const tasks::Task& task, const GpuLayout& layout, const tasks::GeneratorDevice& device,
                  std::uint64_t session_weight_seed) {
  RunJob job;
  const std::span<const std::byte> table = tasks::generator_table();
  job.writes.push_back({kTable, 0, {reinterpret_cast<const char*>(table.data()), table.size()}});
  for (const WeightSet set : layout.weight_sets()) {
    const std::uint64_t seed = GpuLayout::weight_seed(session_weight_seed, set.index);
    for (const tasks::GeneratorLaunch& launch : tasks::weight_launches(task, set.inputs, device))
      if (set.inputs == tasks::InputSet::nominal || layout.own_in_strict(filled_by(task, launch)))
        job.launches.push_back(order_of(launch, seed, [&](const std::string& name) { return layout.weight(*task.find(name), set); }));
  }
  for (const BufferSpec& buffer : layout.weight_buffers()) job.seals.push_back(buffer.name);
  return job;
}

}  // namespace onelaunch::sandbox
