// The generated source of the eager baseline passes NVRTC, and holds the kernels that the plan launches.
#include <gtest/gtest.h>

#include "tasks/eager.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/ops/nvrtc_ptx.h"

namespace onelaunch::tasks {
namespace {

class EagerSource : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(EagerSource, CompilesAndHoldsEveryLaunchedKernel) {
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const Task task = library_task(GetParam().first, GetParam().second);
  for (const EagerSums sums : {EagerSums::f32, EagerSums::f64}) {
    const EagerPlan plan = eager_plan(task, 72, sums);
    const CompiledPtx compiled = compile_to_ptx(*nvrtc, plan.source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    for (const EagerLaunch& launch : plan.launches)
      EXPECT_NE(compiled.ptx.find(".entry " + launch.entry + "("), std::string::npos) << launch.op;
  }
}

INSTANTIATE_TEST_SUITE_P(Library, EagerSource,
                         testing::Values(std::pair{"kimi_linear_decode", "full"},
                                         std::pair{"kimi_linear_decode", "tiny"},
                                         std::pair{"llama_block_decode", "full"}, std::pair{"rmsnorm_linear", "full"}));

}  // namespace
}  // namespace onelaunch::tasks
