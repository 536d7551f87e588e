// Kernels compared through the real sandbox of a GPU, whose workers emulate one.
#include <gtest/gtest.h>

#include "agent/cli/kernel_comparison.h"
#include "sandbox/host/cuda_sandbox.h"
#include "tasks/catalog.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::cli {
namespace {

TEST(CompareOnAnEmulatedGpu, EachIsTimedInPairsWithTheFirst) {
  const SystemClock clock;
  const TemporaryFolder folder;
  const auto task = tasks::load_task("rmsnorm_linear", "tiny");
  ASSERT_TRUE(task) << task.error().message;
  const auto seed = tasks::seed_kernel(*task);
  ASSERT_TRUE(seed) << seed.error().message;
  sandbox::CudaOptions options;
  options.worker = ONELAUNCH_WORKER_PATH;
  options.cache = folder.path() / "cache", options.locks = folder.path() / "locks";
  options.role = "emu", options.purpose = "a test";
  options.weight_sets = 3, options.chain_us = 0;
  const auto sandbox = sandbox::open_cuda(*task, options, clock);
  ASSERT_TRUE(sandbox) << sandbox.error().message;
  const std::vector<KernelVariant> variants = {{"seed", *seed, {}}, {"wide", *seed, {{"BLOCK", "256"}}}, {"unlisted", *seed, {{"BLOCK", "3"}}}};
  const auto kernels = compare_kernels(**sandbox, variants, {.pair_s = 0.001}, clock, [](const std::string&) {});
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), 3u);
  EXPECT_TRUE(kernels->at(0).first);
  const ComparedKernel& wide = kernels->at(1);
  ASSERT_TRUE(wide.passed()) << sandbox::explain(wide.outcome);
  ASSERT_TRUE(wide.over_first) << wide.no_ratio;
  EXPECT_TRUE(wide.over_first->interval);
  EXPECT_GE(wide.over_first->pairs, 8);
  EXPECT_NEAR(wide.over_first->ratio, *kernels->at(0).us / *wide.us, 1e-6) << "an emulated GPU has no noise";
  EXPECT_STREQ(name_of(kernels->at(2).outcome), "refused");
}

}  // namespace
}  // namespace onelaunch::cli
