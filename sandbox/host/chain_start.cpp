#include "sandbox/host/chain_start.h"

#include "sandbox/host/generation.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/protocol/poison.h"
#include "tasks/generator.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Bytes;
using tasks::Role;
using tasks::Tensor;

constexpr std::uint64_t kPoisonStream = 1000;

std::size_t written_bytes(const Tensor& state, const ChainStart& start) {
  return state.is_cache() ? state.bytes(1) * static_cast<std::size_t>(start.context) : state.bytes(start.capacity);
}

}  // namespace

Bytes unwritten_rows(const tasks::Task& task, std::size_t index, const ChainStart& start) {
  const Tensor& state = *task.with(Role::state)[index];
  Bytes rows(state.bytes(start.capacity) - written_bytes(state, start));
  fill_poison(rows, derived_seed(start.seed, kPoisonStream + index));
  return rows;
}

std::vector<Bytes> drawn_states(const tasks::Task& task, const ChainStart& start) {
  std::vector<Bytes> states;
  for (const Tensor* state : task.with(Role::state)) {
    Bytes bytes(state->bytes(start.capacity));
    tasks::fill_tensor(task, *state, start.seed, start.inputs, start.context, bytes);
    const Bytes rows = unwritten_rows(task, states.size(), start);
    std::copy(rows.begin(), rows.end(), bytes.end() - static_cast<std::ptrdiff_t>(rows.size()));
    states.push_back(std::move(bytes));
  }
  return states;
}

std::vector<RunJob> states_on_device(const tasks::Task& task, const ChainStart& start,
                                     const std::function<std::string(const Tensor&)>& buffer_of) {
  RunJob drawn, poisoned;
  const std::vector<const Tensor*> states = task.with(Role::state);
  for (std::size_t i = 0; i < states.size(); ++i) {
    drawn.launches.push_back(state_order(task, *states[i], start, buffer_of(*states[i])));
    const Bytes rows = unwritten_rows(task, i, start);
    if (!rows.empty())
      poisoned.writes.push_back({buffer_of(*states[i]), written_bytes(*states[i], start),
                                 {reinterpret_cast<const char*>(rows.data()), rows.size()}});
  }
  if (states.empty()) return {};
  return {std::move(drawn), std::move(poisoned)};
}

}  // namespace onelaunch::sandbox
