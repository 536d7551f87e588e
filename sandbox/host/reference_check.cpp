#include "sandbox/host/reference_check.h"

#include <algorithm>
#include <future>

#include "base/sha256.h"
#include "sandbox/host/gate_report.h"
#include "sandbox/host/grade_plan.h"
#include "tasks/compare.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Bytes;
using tasks::InputSet;
using tasks::Role;
using tasks::Tensor;

constexpr int kSteps = 2;

Result<void> check_weights(GpuReference& reference, const Weights& weights, InputSet inputs) {
  const std::vector<tasks::WeightArena::Place>& places = weights.arena().places;
  std::vector<std::future<std::string>> wanted;
  for (const tasks::WeightArena::Place& place : places)
    wanted.push_back(std::async(std::launch::async, [&] { return sha256_hex(weights.bytes().subspan(place.offset, place.bytes)); }));
  auto made = reference.weight_digests(inputs);
  if (!made) return because(made.error());
  for (std::size_t i = 0; i < places.size(); ++i)
    if (wanted[i].get() != made->at(i))
      return fail(Error::Kind::internal, "the weight " + places[i].tensor->name + " made on the GPU is not the one made on the CPU");
  return {};
}

// The same tolerances, tightened.
tasks::Task tightened(tasks::Task task) {
  const auto tighten = [](tasks::Tolerance& tolerance) {
    tolerance.rel_l2 *= kReferenceShare, tolerance.max_rms *= kReferenceElementShare;
  };
  tighten(task.output_tolerance), tighten(task.state_tolerance);
  for (auto& [tensor, tolerance] : task.tensor_tolerance) tighten(tolerance);
  return task;
}

std::vector<tasks::TensorView> views_of(const tasks::Task& task, const std::vector<Bytes>& got_outputs,
                                        const std::vector<Bytes>& want_outputs, const std::vector<Bytes>& got_states,
                                        const std::vector<Bytes>& want_states, const std::vector<Bytes>& before) {
  std::vector<tasks::TensorView> views;
  const std::vector<const Tensor*> outputs = task.with(Role::output), states = task.with(Role::state);
  for (std::size_t i = 0; i < outputs.size(); ++i) views.push_back({outputs[i], got_outputs[i], want_outputs[i], {}});
  for (std::size_t i = 0; i < states.size(); ++i) views.push_back({states[i], got_states[i], want_states[i], before[i]});
  return views;
}

Result<void> check_chain(const tasks::Task& task, GpuReference& reference, tasks::Oracle& oracle, InputSet inputs,
                         std::int64_t context, std::uint64_t seed, GateReport& report) {
  const ChainStart start{inputs, context, context + kSteps, seed};
  const std::vector<Bytes> before = drawn_states(task, start);
  oracle.reset(before, context, start.capacity);
  if (auto reset = reference.reset(start); !reset) return because(reset.error());
  for (int step = 0; step < kSteps; ++step) {
    // The reference draws, because it is fast; a token that it holds far from a tie is far enough from it here too.
    auto token = reference.draw(step, 0);
    if (!token) return because(token.error());
    const std::vector<Bytes> want = oracle.step(*token).outputs;
    auto got = reference.step();
    if (!got) return because(got.error());
    auto got_states = reference.states();
    if (!got_states) return because(got_states.error());
    const auto findings = tasks::compare(task, views_of(task, *got, want, *got_states, oracle.states(), before), context,
                                         context + step + 1);
    if (!report.add(findings, {context, step, seed, inputs == InputSet::strict}))
      return fail(Error::Kind::internal, "the reference kernels do not agree with the oracle: " + report.first_failure());
  }
  return {};
}

}  // namespace

Result<std::vector<GateResult>> check_reference(const tasks::Task& task, GpuReference& reference, const Weights& nominal,
                                                const Weights& strict, int threads, std::uint64_t seed) {
  const tasks::Task tight = tightened(task);
  GateReport report;
  for (const InputSet inputs : {InputSet::nominal, InputSet::strict}) {
    const Weights& weights = inputs == InputSet::strict ? strict : nominal;
    if (auto same = check_weights(reference, weights, inputs); !same) return because(same.error());
    tasks::Oracle oracle(tight, weights.bytes(), threads);
    std::vector<std::int64_t> contexts{task.sweep.front().context};
    if (task.sweep.back().context != contexts.front()) contexts.push_back(task.sweep.back().context);
    for (const std::int64_t context : contexts)
      if (auto checked = check_chain(tight, reference, oracle, inputs, context, derived_seed(seed, static_cast<std::uint64_t>(context)), report); !checked)
        return because(checked.error());
  }
  return report.gates();
}

}  // namespace onelaunch::sandbox
