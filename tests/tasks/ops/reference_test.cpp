// The oracle against an independent scalar implementation, outputs and states, over several chained tokens.
#include <gtest/gtest.h>

#include "tests/tasks/ops/block_reference.h"

namespace onelaunch::tasks {
namespace {

// Sums are taken in another order, so a value may fall on the other side of a rounding, hardly ever.
void expect_same(const Vector& got, const Vector& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  EXPECT_LE(relative_error(got, want), 1e-4) << what;
}

using Step = Vector (BlockReference::*)(const Vector&);

void run_both(const Chain& chain, Step reference_step, int steps) {
  Oracle oracle = chain.oracle(2);
  BlockReference reference(chain);
  for (int step = 0; step < steps; ++step) {
    const Bytes token = chain.token(step);
    const Vector want = (reference.*reference_step)(decoded(token, DType::bf16));
    const OracleStep got = oracle.step(token);
    expect_same(decoded(got.outputs[0], DType::bf16), want, "output of step " + std::to_string(step));
    const auto tensors = chain.task.with(Role::state);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      expect_same(decoded(oracle.states()[i], tensors[i]->dtype), reference.state(tensors[i]->name),
                  tensors[i]->name + " after step " + std::to_string(step));
  }
}

TEST(Oracle, AgreesWithPlainLoopsOnKimiForFourTokens) {
  run_both(Chain("kimi_linear_decode", "tiny", InputSet::strict, 32), &BlockReference::kimi_step, 4);
}

TEST(Oracle, AgreesWithPlainLoopsOnKimiWithNominalInputs) {
  run_both(Chain("kimi_linear_decode", "tiny", InputSet::nominal, 5), &BlockReference::kimi_step, 2);
}

TEST(Oracle, AgreesWithPlainLoopsOnLlamaForFourTokens) {
  run_both(Chain("llama_block_decode", "full", InputSet::strict, 37), &BlockReference::llama_step, 4);
}

}  // namespace
}  // namespace onelaunch::tasks
