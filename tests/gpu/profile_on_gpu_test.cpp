// Profiles on a real card, through the sandbox. The binary is portable as cuda_worker_test is; start it in the repository.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "sandbox/host/cuda_sandbox.h"
#include "tasks/catalog.h"
#include "tests/gpu/gpu.h"

namespace onelaunch::sandbox {
namespace {

class ProfilesOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = gpu::Gpu::missing(); !why.empty()) GTEST_SKIP() << "NO GPU: " << why;
  }
  void open(const std::string& name) {
    auto task = tasks::load_task(name, "");
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    CudaOptions options;
    if (std::getenv("ONELAUNCH_WORKER") == nullptr && std::filesystem::exists(ONELAUNCH_BUILT_WORKER)) options.worker = ONELAUNCH_BUILT_WORKER;
    options.purpose = "profile_on_gpu_test";
    auto sandbox = open_cuda(task_, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
    seed_ = tasks::seed_kernel(task_).value_or("");
  }
  KernelProfile profile(const std::string& source) {
    auto profile = sandbox_->profile({.source = source}, Deadline::after(clock_, Seconds(300)));
    EXPECT_TRUE(profile) << profile.error().message;
    return profile ? std::move(*profile) : KernelProfile{};
  }
  // The stamps account for the launch, and the marks cost little.
  void expect_sound(const KernelProfile& p, std::size_t phases) {
    ASSERT_STREQ(name_of(p.outcome), "passed") << explain(p.outcome) << "\n" << p.log;
    std::printf("{\"test\": \"profile\", \"task\": \"%s\", \"token_us\": %.3f, \"launch_us\": %.3f, \"unmarked_us\": %.3f, \"critical_us\": %.3f, "
                "\"barrier_us\": %.3f, \"sass\": \"%s%s\"}\n",
                task_.name.c_str(), p.token_us, p.launch_us.median, p.unmarked_us.median, p.critical_us, p.barrier_us, p.sass.tool.c_str(),
                p.sass.problem.c_str());
    EXPECT_EQ(p.wrong, "");
    EXPECT_FALSE(p.modelled);
    EXPECT_EQ(p.launches, 20);
    EXPECT_EQ(p.phases.size(), phases);
    double share = 0;
    for (const ProfiledPhase& phase : p.phases) {
      share += phase.share;
      EXPECT_EQ(phase.blocks, static_cast<int>(p.resources.grid)) << phase.name;
    }
    EXPECT_NEAR(share, 1, 1e-6);
    EXPECT_GT(p.token_us, 0);
    EXPECT_LT(p.token_us, p.launch_us.median);
    EXPECT_LE(p.critical_us + p.barrier_us, p.token_us * 1.02);
    EXPECT_EQ(p.sass.problem.empty(), !p.sass.tool.empty() && p.sass.instructions > 100);
  }

  SystemClock clock_;
  tasks::Task task_;
  std::unique_ptr<Sandbox> sandbox_;
  std::string seed_;
};

TEST_F(ProfilesOnGpu, TheSeedOfLlamaBlockDecode) {
  open("llama_block_decode");
  const KernelProfile seed = profile(seed_);
  expect_sound(seed, 6);
  EXPECT_EQ(seed.barriers, 12);
}

TEST_F(ProfilesOnGpu, TheSeedOfKimiLinearDecodeAtFullSize) {
  open("kimi_linear_decode");
  const KernelProfile seed = profile(seed_);
  expect_sound(seed, 11);
  EXPECT_EQ(seed.barriers, 26);
}

TEST_F(ProfilesOnGpu, ProbesAreComparedWithTheOracle) {
  open("llama_block_decode");
  std::string source = seed_;
  const std::string call = "    mlp(s, args, args.layer[layer], scratch);\n";
  source.replace(source.find(call), 0, "    OL_PROBE(\"layer.*.h\", s.residual, kHidden, 0, layer);\n");
  const KernelProfile right = profile(source);
  ASSERT_EQ(right.probes.size(), 2u);
  for (const ProbeResult& probe : right.probes) EXPECT_TRUE(probe.ok) << probe.name << ": " << probe.detail;
  source.replace(source.find("kHidden, 0, layer"), 17, "kHidden, 0, 1 - layer");
  const KernelProfile swapped = profile(source);
  for (const ProbeResult& probe : swapped.probes) EXPECT_FALSE(probe.ok) << probe.name;
}

TEST_F(ProfilesOnGpu, AKernelThatLeavesNoSharedMemoryIsProfiledAllTheSame) {
  open("rmsnorm_linear");
  std::string source = seed_;
  const std::string grid = ".grid = ol::per_sm(BLOCKS_PER_SM)";
  source.replace(source.find(grid), grid.size(), grid + ", .dynamic_smem = 232448 - (ol::dim::hidden + BLOCK / 32) * 4");
  const KernelProfile seed = profile(source);
  ASSERT_STREQ(name_of(seed.outcome), "passed") << explain(seed.outcome) << "\n" << seed.log;
  EXPECT_EQ(seed.phases.size(), 2u);
  EXPECT_EQ(seed.notes.size(), 1u);
}

}  // namespace
}  // namespace onelaunch::sandbox
