#include "sandbox/host/gpu_arms.h"

#include <algorithm>

#include "sandbox/host/candidate_buffers.h"

namespace onelaunch::sandbox {
namespace {

constexpr const char* kTimedSync = "timed sync";
constexpr const char* kTimedScratch = "timed scratch";

std::uint64_t largest(const std::vector<GpuArm>& arms, std::uint64_t LaunchDeclaration::* bytes) {
  std::uint64_t most = 0;
  for (const GpuArm& arm : arms) most = std::max(most, arm.compiled().launch.*bytes);
  return most;
}

}  // namespace

std::string GpuArm::prepared_buffer(WeightSet set) const {
  return module_ + " prepared " + (set.inputs == tasks::InputSet::strict ? "strict " : "") + std::to_string(set.index);
}

std::vector<BufferSpec> GpuArm::prepared_buffers() const {
  std::vector<BufferSpec> buffers;
  if (compiled_.launch.prepared_bytes > 0)
    for (const WeightSet set : layout_.weight_sets())
      buffers.push_back({prepared_buffer(set), compiled_.launch.prepared_bytes, false, 0});
  return buffers;
}

Redirections GpuArm::places(WeightSet set, bool timed) const {
  // Where strict weights are the nominal ones, so is what was made of them.
  if (!layout_.strict_sets()) set.inputs = tasks::InputSet::nominal;
  Redirections places;
  places[kPreparedBuffer] = {prepared_buffer(set), 0};
  if (timed) places[kSyncBuffer] = {kTimedSync, 0}, places[kScratchBuffer] = {kTimedScratch, 0};
  return places;
}

Step GpuArm::prepare(CandidateRun& run) const {
  if (compiled_.prepares.empty()) return std::nullopt;
  for (const WeightSet set : layout_.weight_sets()) {
    Redirections places = layout_.weights(set);
    places.merge(this->places(set, false));
    RunJob job;
    if (compiled_.launch.prepared_bytes > 0) job.seals.push_back(prepared_buffer(set));
    if (auto step = run.prepare(std::move(job), places, module_); !step || *step) return step;
  }
  return std::nullopt;
}

TimedCase::Arm GpuArm::timed(const CandidateRun& run, const TimedCase& of) const {
  TimedCase::Arm arm;
  for (int i = 0; i < kChainLengthMax; ++i) {
    LaunchOrder order = run.order({of.spec().context + i, of.capacity(), static_cast<std::uint64_t>(i)});
    order.module = module_;
    arm.orders.push_back(std::move(order));
  }
  for (int set = 0; set < layout_.sets(); ++set) arm.places.push_back(places({of.spec().inputs, set}, true));
  return arm;
}

std::vector<BufferSpec> timed_workspace(const std::vector<GpuArm>& arms) {
  std::vector<BufferSpec> buffers;
  if (const std::uint64_t bytes = largest(arms, &LaunchDeclaration::sync_bytes); bytes > 0)
    buffers.push_back({kTimedSync, bytes, false, 0});
  if (const std::uint64_t bytes = largest(arms, &LaunchDeclaration::scratch_bytes); bytes > 0)
    buffers.push_back({kTimedScratch, bytes, false, 0});
  return buffers;
}

void reset_workspace(const std::vector<GpuArm>& arms, std::uint64_t seed, std::vector<BufferFill>& fills) {
  for (const BufferSpec& buffer : timed_workspace(arms)) fills.push_back({buffer.name, buffer.name == kTimedScratch, seed});
}

}  // namespace onelaunch::sandbox
