#include "sandbox/host/candidate_buffers.h"

#include <cstring>

#include "tasks/header.h"

namespace onelaunch::sandbox {
namespace {

const char* prefix(tasks::Role role) {
  switch (role) {
    case tasks::Role::weight: return "weight ";
    case tasks::Role::state: return "state ";
    case tasks::Role::input: return "input ";
    case tasks::Role::output: break;
  }
  return "output ";
}

void put(std::string& parameters, std::size_t offset, std::uint64_t word) {
  if (offset != tasks::ArgsLayout::npos) std::memcpy(parameters.data() + offset, &word, sizeof word);
}

// A buffer that was not declared has no address: the pointer stays null.
void point(LaunchOrder& order, std::size_t offset, const char* buffer, std::uint64_t bytes) {
  if (offset != tasks::ArgsLayout::npos && bytes > 0) order.relocations.push_back({offset, buffer, 0});
}

LaunchOrder order_with(const tasks::Task& task, const tasks::ArgsLayout& layout, const LaunchDeclaration& launch) {
  LaunchOrder order;
  order.parameters.assign(layout.bytes, '\0');
  for (const auto& [name, offset] : layout.pointers)
    if (const tasks::Tensor* tensor = task.find(name)) order.relocations.push_back({offset, buffer_name(*tensor), 0});
  point(order, layout.prepared, kPreparedBuffer, launch.prepared_bytes);
  point(order, layout.sync, kSyncBuffer, launch.sync_bytes);
  point(order, layout.scratch, kScratchBuffer, launch.scratch_bytes);
  return order;
}

}  // namespace

std::string buffer_name(const tasks::Tensor& tensor) { return prefix(tensor.role) + tensor.name; }

std::vector<BufferSpec> tensor_buffers(const tasks::Task& task, const Weights& weights, std::int64_t capacity) {
  std::vector<BufferSpec> buffers;
  for (const tasks::WeightArena::Place& place : weights.arena().places)
    buffers.push_back({buffer_name(*place.tensor), place.bytes, true, place.offset});
  for (const tasks::Tensor& tensor : task.tensors)
    if (tensor.role != tasks::Role::weight) buffers.push_back({buffer_name(tensor), tensor.bytes(capacity), false, 0});
  return buffers;
}

std::vector<BufferSpec> workspace_buffers(const LaunchDeclaration& launch) {
  std::vector<BufferSpec> buffers;
  if (launch.sync_bytes > 0) buffers.push_back({kSyncBuffer, launch.sync_bytes, false, 0});
  if (launch.scratch_bytes > 0) buffers.push_back({kScratchBuffer, launch.scratch_bytes, false, 0});
  return buffers;
}

std::vector<BufferSpec> candidate_buffers(const tasks::Task& task, const Weights& weights, std::int64_t capacity,
                                          const LaunchDeclaration& launch) {
  std::vector<BufferSpec> buffers = tensor_buffers(task, weights, capacity);
  if (launch.prepared_bytes > 0) buffers.push_back({kPreparedBuffer, launch.prepared_bytes, false, 0});
  for (BufferSpec& buffer : workspace_buffers(launch)) buffers.push_back(std::move(buffer));
  return buffers;
}

LaunchOrder own_order(const std::string& module, const std::string& entry, std::size_t words) {
  LaunchOrder order;
  order.module = module;
  order.entry = entry;
  order.cooperative = false;
  order.parameters.assign(words * sizeof(std::uint64_t), '\0');
  return order;
}

LaunchOrder megakernel_order(const tasks::Task& task, const LaunchDeclaration& launch, const CallState& state) {
  const tasks::ArgsLayout layout = tasks::args_layout(task);
  LaunchOrder order = order_with(task, layout, launch);
  put(order.parameters, layout.position, static_cast<std::uint64_t>(state.position));
  put(order.parameters, layout.cache_capacity, static_cast<std::uint64_t>(state.capacity));
  put(order.parameters, layout.epoch, state.epoch);
  order.module = kCandidateModule;
  order.entry = "megakernel";
  order.cluster = launch.cluster;
  order.block = launch.block;
  order.dynamic_smem = launch.dynamic_smem;
  return order;
}

LaunchOrder prepare_order(const tasks::Task& task, const LaunchDeclaration& launch, const PrepareDeclaration& prepare) {
  LaunchOrder order = order_with(task, tasks::prepare_args_layout(task), launch);
  order.module = kCandidateModule;
  order.entry = prepare.name;
  order.block = prepare.block;
  order.dynamic_smem = prepare.dynamic_smem;
  order.cooperative = false;
  return order;
}

}  // namespace onelaunch::sandbox
