#include "sandbox/host/gpu_layout.h"

#include <algorithm>

#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/host/weights.h"

namespace onelaunch::sandbox {
namespace {

constexpr std::uint64_t kSetStream = 9000;

std::string arena_buffer(WeightSet set) {
  return (set.inputs == tasks::InputSet::strict ? "strict weights " : "weights ") + std::to_string(set.index);
}

}  // namespace

void redirect(LaunchOrder& order, const Redirections& places) {
  for (Relocation& relocation : order.relocations) {
    const auto found = places.find(relocation.buffer);
    if (found == places.end()) continue;
    relocation.buffer = found->second.buffer;
    relocation.addend += found->second.addend;
  }
}

GpuLayout::GpuLayout(const tasks::Task& task, int sets) : task_(task), sets_(sets), arena_(tasks::weight_arena(task)) {
  for (const tasks::WeightArena::Place& place : arena_.places) {
    offset_[place.tensor->name] = place.offset;
    own_in_strict_[place.tensor->name] = strict_differs(task, *place.tensor);
  }
}

bool GpuLayout::strict_sets() const {
  return std::ranges::any_of(own_in_strict_, [](const auto& entry) { return entry.second; });
}

std::vector<WeightSet> GpuLayout::weight_sets() const {
  std::vector<WeightSet> all;
  for (int i = 0; i < sets_; ++i) all.push_back({tasks::InputSet::nominal, i});
  for (int i = 0; strict_sets() && i < sets_; ++i) all.push_back({tasks::InputSet::strict, i});
  return all;
}

std::vector<BufferSpec> GpuLayout::weight_buffers() const {
  std::vector<BufferSpec> buffers;
  for (const WeightSet set : weight_sets()) {
    if (set.index > 0) {
      buffers.push_back({arena_buffer(set), arena_.bytes, false, 0});
      continue;
    }
    for (const tasks::WeightArena::Place& place : arena_.places)
      if (set.inputs == tasks::InputSet::nominal || own_in_strict(*place.tensor))
        buffers.push_back({weight(*place.tensor, set).buffer, place.bytes, false, 0});
  }
  return buffers;
}

std::uint64_t GpuLayout::weight_bytes() const {
  std::uint64_t bytes = 0;
  for (const BufferSpec& buffer : weight_buffers()) bytes += buffer.bytes;
  return bytes;
}

Place GpuLayout::weight(const tasks::Tensor& tensor, WeightSet set) const {
  if (!own_in_strict(tensor)) set.inputs = tasks::InputSet::nominal;
  if (set.index > 0) return {arena_buffer(set), offset_.at(tensor.name)};
  return {(set.inputs == tasks::InputSet::strict ? "strict " : "") + buffer_name(tensor), 0};
}

Redirections GpuLayout::weights(WeightSet set) const {
  Redirections places;
  for (const tasks::WeightArena::Place& place : arena_.places)
    places[buffer_name(*place.tensor)] = weight(*place.tensor, set);
  return places;
}

std::uint64_t GpuLayout::weight_seed(std::uint64_t session_weight_seed, int index) {
  return index == 0 ? session_weight_seed : derived_seed(session_weight_seed, kSetStream + static_cast<std::uint64_t>(index));
}

}  // namespace onelaunch::sandbox
