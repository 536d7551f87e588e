// The strict inputs must show every part of a computation: a kernel that ignores a tensor cannot pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bfloat16.h"
#include "tests/tasks/ops/block_reference.h"

namespace onelaunch::tasks {
namespace {

struct Compared {
  Vector values;
  double tolerance;
};

// What a candidate is judged by after one token: outputs, states, and of caches the new row.
std::vector<Compared> run(const Chain& chain, const Task& task, int steps) {
  Oracle oracle(task, chain.weights, 2);
  oracle.reset(chain.states, chain.context, chain.capacity);
  std::vector<Compared> all;
  for (int step = 0; step < steps; ++step)
    for (const Bytes& output : oracle.step(chain.token(step)).outputs)
      all.push_back({decoded(output, DType::bf16), chain.task.output_tolerance.rel_l2});
  const auto tensors = chain.task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Vector values = decoded(oracle.states()[i], tensors[i]->dtype);
    const auto row = static_cast<std::ptrdiff_t>(tensors[i]->elements(1));
    if (tensors[i]->is_cache())
      values = Vector(values.begin() + chain.context * row, values.begin() + (chain.context + 1) * row);
    all.push_back({std::move(values), chain.task.state_tolerance.rel_l2});
  }
  return all;
}

// The largest error of any compared tensor, in tolerances.
double visibility(const std::vector<Compared>& honest, const std::vector<Compared>& mutant) {
  double worst = 0;
  for (std::size_t i = 0; i < honest.size(); ++i)
    worst = std::max(worst, relative_error(mutant[i].values, honest[i].values) / honest[i].tolerance);
  return worst;
}

void set_all(std::span<std::byte> bytes, std::uint16_t word) {
  for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) std::memcpy(&bytes[i], &word, 2);
}

class StrictInputs : public testing::TestWithParam<std::pair<const char*, std::int64_t>> {
 protected:
  Chain chain() const { return Chain(GetParam().first, "tiny", InputSet::strict, GetParam().second); }
};

TEST_P(StrictInputs, ShowEveryWeight) {
  const Chain honest = chain();
  const std::vector<Compared> want = run(honest, honest.task, 2);
  for (const WeightArena::Place& place : weight_arena(honest.task).places) {
    const std::string& name = place.tensor->name;
    if (name.ends_with(".packed") || name.ends_with(".zero")) continue;  // a scale of zero stands for all three
    Chain mutant = honest;
    const bool norm = name.ends_with("norm");  // ignored is one, not zero
    set_all(std::span(mutant.weights).subspan(place.offset, place.bytes), norm ? float_to_bf16(1) : std::uint16_t{0});
    EXPECT_GT(visibility(want, run(mutant, mutant.task, 2)), 2) << name;
  }
}

TEST_P(StrictInputs, ShowEveryState) {
  const Chain honest = chain();
  const std::vector<Compared> want = run(honest, honest.task, 2);
  const auto tensors = honest.task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Chain mutant = honest;
    std::fill(mutant.states[i].begin(), mutant.states[i].end(), std::byte{0});
    EXPECT_GT(visibility(want, run(mutant, mutant.task, 2)), 2) << tensors[i]->name;
  }
}

// Every element by a half, up or down. A tensor whose change a candidate does not answer, as one does that works on a
// copy or on a part of it, is off by as much as the reference moves: the comparison with the reference needs no second
// run with a changed tensor.
void move_by_a_half(std::span<std::byte> bytes, DType dtype) {
  std::uint32_t random = 12345;
  const std::size_t size = element_bytes(dtype);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    random = random * 1664525 + 1013904223;
    const float by = random >> 31 ? 0.5f : 1.5f;
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[at], size);
    if (dtype == DType::bf16) word = float_to_bf16(by * bf16_to_float(static_cast<std::uint16_t>(word)));
    if (dtype == DType::f32) word = std::bit_cast<std::uint32_t>(by * std::bit_cast<float>(word));
    std::memcpy(&bytes[at], &word, size);
  }
}

TEST_P(StrictInputs, AnswerAChangeOfEachTensor) {
  const Chain honest = chain();
  const std::vector<Compared> want = run(honest, honest.task, 2);
  for (const WeightArena::Place& place : weight_arena(honest.task).places) {
    const std::string& name = place.tensor->name;
    if (name.ends_with(".packed") || name.ends_with(".zero")) continue;  // the scale stands for all three
    Chain moved = honest;
    move_by_a_half(std::span(moved.weights).subspan(place.offset, place.bytes), place.tensor->dtype);
    EXPECT_GT(visibility(want, run(moved, moved.task, 2)), 1) << name;
  }
  const auto tensors = honest.task.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Chain moved = honest;
    move_by_a_half(moved.states[i], tensors[i]->dtype);
    EXPECT_GT(visibility(want, run(moved, moved.task, 2)), 1) << tensors[i]->name;
  }
}

// One changed attribute, or an op that passes its input on, must show as well.
TEST_P(StrictInputs, ShowEveryAttribute) {
  const Chain honest = chain();
  const std::vector<Compared> want = run(honest, honest.task, 2);
  for (std::size_t i = 0; i < honest.task.ops.size(); ++i) {
    for (const auto& [name, change] : {std::pair{"theta", 0.5}, std::pair{"scale", 0.5}}) {
      if (!honest.task.ops[i].attributes.contains(name)) continue;
      Task mutant = honest.task;
      mutant.ops[i].attributes[name] *= change;
      EXPECT_GT(visibility(want, run(honest, mutant, 2)), 2) << mutant.ops[i].name << " " << name;
    }
  }
}

// A kernel that keeps its normalised vectors in f32 moves one rounding, as deferring the norm's division does. What
// that does to the output is as far from the oracle as honest kernels come.
TEST_P(StrictInputs, LeaveRoomForAnotherRounding) {
  const Chain honest = chain();
  Task other = honest.task;
  for (Op& op : other.ops)
    if (op.kind == "rmsnorm") op.round_to = DType::f32;
  ASSERT_TRUE(infer_shapes(other));
  const double error = visibility(run(honest, honest.task, 4), run(honest, other, 4));
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.7);
}

INSTANTIATE_TEST_SUITE_P(Library, StrictInputs,
                         testing::Values(std::pair{"kimi_linear_decode", std::int64_t{32}},
                                         std::pair{"kimi_linear_decode", std::int64_t{96}},
                                         std::pair{"llama_block_decode", std::int64_t{32}},
                                         std::pair{"rmsnorm_linear", std::int64_t{0}}));

}  // namespace
}  // namespace onelaunch::tasks
