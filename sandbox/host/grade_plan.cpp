#include "sandbox/host/grade_plan.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

namespace onelaunch::sandbox {
namespace {

constexpr int kStrictSteps = 3, kQuickSteps = 2, kDetectSteps = 2;
constexpr int kGpuSteps = 4, kGpuSeeds = 2;
constexpr std::uint64_t kJitter = 97;  // cached tokens by which a strict chain may begin earlier
constexpr std::uint64_t kScheduleStream = 7000, kCapacityStream = 7001, kDetectStream = 7002, kJitterStream = 7500;

std::vector<tasks::SweepPoint> points_of(const tasks::Task& task, const GradeRequest& request) {
  std::vector<tasks::SweepPoint> points = task.sweep;
  if (!request.contexts.empty()) {
    points.clear();
    for (const std::int64_t context : request.contexts) {
      const auto known = std::ranges::find(task.sweep, context, &tasks::SweepPoint::context);
      points.push_back({context, known != task.sweep.end() ? known->steps : task.sweep.empty() ? 1 : task.sweep.front().steps});
    }
  }
  if (request.check == Check::quick && points.size() > 1) points.resize(1);
  return points;
}

}  // namespace

std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t mixed = seed + (stream + 1) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::uint64_t fresh_seed() {
  std::uint64_t seed = 0;
  while (::getrandom(&seed, sizeof seed, 0) < 0 && errno == EINTR) {}
  return seed;
}

GradePlan plan_grade(const tasks::Task& task, std::size_t weight_bytes, const GradeRequest& request, std::uint64_t seed) {
  const bool heavy = weight_bytes > kHeavyWeightBytes, quick = request.check == Check::quick;
  const std::vector<tasks::SweepPoint> points = points_of(task, request);
  GradePlan plan;
  std::uint64_t stream = 0;
  const auto add = [&](tasks::InputSet set, std::int64_t context, int steps, std::uint64_t schedule, bool timed) {
    const bool linked = !plan.chains.empty() && plan.chains.back().set == set;
    plan.chains.push_back({set, context, heavy ? 1 : steps, derived_seed(seed, stream++), schedule, timed, linked});
    plan.capacity = std::max(plan.capacity, context + plan.chains.back().steps);
  };
  for (const tasks::SweepPoint& point : points)
    add(tasks::InputSet::nominal, point.context, quick ? std::min(point.steps, kQuickSteps) : point.steps, 0, true);
  // Further schedules, to meet orders of blocks that the first did not.
  for (int i = 1; i < request.schedules && !points.empty(); ++i)
    add(tasks::InputSet::nominal, points.front().context, std::min(points.front().steps, kStrictSteps),
        derived_seed(seed, kScheduleStream + 10 * static_cast<std::uint64_t>(i)) | 1, false);
  // The detectors are slow, and what they find does not hang on the number of steps.
  if (!points.empty() && (request.detect || (!quick && !heavy))) {
    add(tasks::InputSet::nominal, points.front().context, kDetectSteps, derived_seed(seed, kDetectStream) | 1, false);
    plan.chains.back().detect = true;
    plan.chains.back().linked = false;
  }
  for (std::size_t i = 0; i < (quick ? 0 : heavy ? std::min<std::size_t>(points.size(), 1) : points.size()); ++i)
    add(tasks::InputSet::strict, points[i].context, std::min(points[i].steps, kStrictSteps),
        derived_seed(seed, kScheduleStream) | 1, true);
  plan.capacity += 1 + static_cast<std::int64_t>(derived_seed(seed, kCapacityStream) % 7);
  return plan;
}

GpuGradePlan plan_gpu_grade(const tasks::Task& task, const GradeRequest& request, std::uint64_t seed) {
  const bool quick = request.check == Check::quick;
  GpuGradePlan plan;
  plan.seed = seed;
  std::uint64_t stream = 0;
  const auto add = [&](tasks::InputSet set, std::int64_t context, int steps) {
    const auto spare = 1 + static_cast<std::int64_t>(derived_seed(seed, kCapacityStream + stream) % 7);
    const bool linked = set == tasks::InputSet::strict && !plan.chains.empty();
    plan.chains.push_back(
        {set, context, steps, derived_seed(seed, stream++), 0, false, linked, false, context + steps + spare});
    plan.capacity = std::max(plan.capacity, plan.chains.back().capacity);
  };
  for (const tasks::SweepPoint& point : points_of(task, request)) {
    plan.contexts.push_back(point.context);
    const int steps = std::min(point.steps, quick ? kQuickSteps : kGpuSteps);
    for (int i = 0; i < (quick ? 1 : kGpuSeeds); ++i) {
      add(tasks::InputSet::nominal, point.context, steps);
      const std::int64_t earlier = static_cast<std::int64_t>(derived_seed(seed, kJitterStream + stream) % kJitter);
      add(tasks::InputSet::strict, std::max<std::int64_t>(point.context - earlier, point.context / 2), steps);
    }
  }
  return plan;
}

}  // namespace onelaunch::sandbox
