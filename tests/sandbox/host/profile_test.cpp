// Profiles on the emulator, and through the host's side of a GPU with workers that emulate one.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "sandbox/host/cuda_sandbox.h"
#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

// A kernel of rmsnorm_linear's task, right or wrong: what matters is what it marks. BODY is replaced.
constexpr const char* kFrame = R"(
#include <onelaunch.cuh>
OL_LAUNCH(.block = 64, .grid = 8, .sync_bytes = ol::kBarrierBytes)
__device__ void work(const ol::Args& args, int turns) {
  float sum = 0;
  for (int i = 0; i < turns * 64; ++i) sum += __bfloat162float(args.token[(i * 7 + threadIdx.x) % 256]);
  if (sum == 12345.678f) args.y[0] = args.token[0];
}
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
BODY
}
)";

class Profiles : public testing::TestWithParam<bool> {
 protected:
  void open(const std::string& name, const std::string& variant) {
    auto task = tasks::load_task(name, variant);
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    auto sandbox = GetParam() ? as_a_gpu() : emulated();
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
    seed_ = tasks::seed_kernel(task_).value_or("");
  }
  Result<std::unique_ptr<Sandbox>> emulated() {
    EmulatedOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = folder_.path / "cache";
    return open_emulated(task_, options, clock_);
  }
  Result<std::unique_ptr<Sandbox>> as_a_gpu() {
    CudaOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = folder_.path / "cache";
    options.locks = folder_.path / "locks";
    options.role = "emu";
    options.weight_sets = 2;
    options.grade_limits.launch_s = 120;
    return open_cuda(task_, options, clock_);
  }
  KernelProfile profile(const std::string& source, int launches = 1, const TunableValues& tunables = {}) {
    auto profile = sandbox_->profile({.source = source, .tunables = tunables, .seed = 5, .launches = launches}, Deadline::after(clock_, Seconds(200)));
    EXPECT_TRUE(profile) << profile.error().message;
    return profile ? std::move(*profile) : KernelProfile{};
  }
  KernelProfile profile_body(const std::string& body) {
    std::string source = kFrame;
    source.replace(source.find("BODY"), 4, body);
    return profile(source);
  }
  static const ProfiledPhase* find(const KernelProfile& profile, const std::string& name) {
    const auto found = std::ranges::find(profile.phases, name, &ProfiledPhase::name);
    return found == profile.phases.end() ? nullptr : &*found;
  }

  SystemClock clock_;
  TemporaryFolder folder_;
  tasks::Task task_;
  std::unique_ptr<Sandbox> sandbox_;
  std::string seed_;
};

TEST_P(Profiles, TheSeedOfALayeredTaskShowsItsPhasesAndWaits) {
  open("llama_block_decode", "");
  const KernelProfile seed = profile(seed_, 2);
  ASSERT_STREQ(name_of(seed.outcome), "passed") << explain(seed.outcome);
  EXPECT_EQ(seed.wrong, "");
  EXPECT_EQ(seed.launches, 2);
  EXPECT_EQ(seed.modelled, !GetParam());
  EXPECT_TRUE(seed.notes.empty()) << seed.notes.front();
  ASSERT_EQ(seed.phases.size(), 6u);
  EXPECT_EQ(seed.phases[0].name, "qkv");
  EXPECT_EQ(seed.phases[5].name, "down");
  double critical = 0, share = 0;
  for (const ProfiledPhase& phase : seed.phases) {
    EXPECT_EQ(phase.passes, 2) << phase.name;
    EXPECT_EQ(phase.blocks, 64) << phase.name;
    EXPECT_GT(phase.wait_us.high, 0) << phase.name;
    EXPECT_LE(phase.us.low, phase.us.median);
    EXPECT_LE(phase.us.median, phase.us.high);
    critical += phase.critical_us, share += phase.share;
  }
  EXPECT_EQ(seed.barriers, 12);
  EXPECT_NEAR(critical, seed.critical_us, 1e-6);
  EXPECT_NEAR(share, 1, 1e-6);
  EXPECT_LE(seed.critical_us + seed.barrier_us, seed.token_us * 1.001);
  EXPECT_GE(seed.critical_us + seed.barrier_us, seed.token_us * 0.9);
  EXPECT_LT(seed.token_us, seed.launch_us.median);
  EXPECT_GT(seed.unmarked_us.median, 0);
  EXPECT_LT(seed.unmarked_us.median, seed.launch_us.median);
  EXPECT_GT(seed.floor_us, 0);
  EXPECT_GT(seed.resources.registers, 0);
  EXPECT_GT(seed.resources.blocks_per_sm, 0u);
  if (!GetParam()) {
    double marked_mb = 0, moved_mb = 0;
    for (const ProfiledPhase& phase : seed.phases) marked_mb += phase.dram_mb.value_or(0);
    for (const ModelledPhase& phase : seed.modelled_phases) moved_mb += phase.dram_mb;
    EXPECT_GT(moved_mb, 5);
    EXPECT_NEAR(marked_mb, moved_mb, 1e-6);
  }
}

TEST_P(Profiles, MarksInALoopAndInSomeBlocksOnlyAreTold) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile kernel = profile_body(R"(
  for (int i = 0; i < 3; ++i) {
    OL_PHASE("loop");
    work(args, 4);
    if (blockIdx.x == 2) {
      OL_PHASE("few");
      work(args, 60);
    }
    ol::grid_barrier(args);
  })");
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome) << kernel.log;
  EXPECT_NE(kernel.wrong, "");  // it writes no output
  const ProfiledPhase *loop = find(kernel, "loop"), *few = find(kernel, "few");
  ASSERT_TRUE(loop != nullptr && few != nullptr);
  EXPECT_EQ(loop->passes, 3);
  EXPECT_EQ(loop->blocks, 8);
  EXPECT_EQ(few->passes, 3);
  EXPECT_EQ(few->blocks, 1);
  EXPECT_EQ(kernel.barriers, 3);
  // Block 2 is what the others wait for.
  EXPECT_GT(kernel.wait_us.high, few->critical_us / 2);
  EXPECT_GT(few->critical_us, loop->critical_us);
}

TEST_P(Profiles, AKernelWithoutMarksIsOnePhase) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile plain = profile_body("work(args, 1);");
  ASSERT_STREQ(name_of(plain.outcome), "passed") << explain(plain.outcome);
  ASSERT_EQ(plain.phases.size(), 1u);
  EXPECT_EQ(plain.phases[0].name, "kernel");
  EXPECT_GT(plain.phases[0].us.median, 0);
  EXPECT_EQ(plain.notes.size(), 1u);
  const KernelProfile waits = profile_body("ol::grid_barrier(args); work(args, 9); ol::grid_barrier(args);");
  ASSERT_EQ(waits.phases.size(), 1u);
  EXPECT_EQ(waits.phases[0].name, "kernel");
  EXPECT_EQ(waits.phases[0].blocks, 8);
  EXPECT_EQ(waits.barriers, 2);
}

TEST_P(Profiles, AMarkAfterACaseLabelIsTakenWithoutItsEnd) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile kernel = profile_body(R"(
  switch (blockIdx.x % 2) {
    case 0: OL_PHASE("even"); work(args, 1); break;
    case 1: OL_PHASE("odd"); work(args, 2); break;
  })");
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome);
  ASSERT_NE(find(kernel, "even"), nullptr);
  EXPECT_EQ(find(kernel, "even")->blocks, 4);
  EXPECT_EQ(find(kernel, "odd")->blocks, 4);
  EXPECT_FALSE(kernel.notes.empty());
}

TEST_P(Profiles, AKernelThatLeavesNoSharedMemoryIsProfiledAllTheSame) {
  open("rmsnorm_linear", "tiny");
  const std::string body = "OL_PHASE(\"one\"); work(args, 1);\nOL_PHASE(\"two\"); work(args, 2);";
  std::string source = kFrame;
  source.replace(source.find("BODY"), 4, body);
  source.replace(source.find(".sync_bytes"), 0, ".dynamic_smem = 232448, ");
  const KernelProfile kernel = profile(source);
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome);
  ASSERT_NE(find(kernel, "two"), nullptr);
  EXPECT_EQ(find(kernel, "one")->passes, 1);
  EXPECT_GT(find(kernel, "two")->us.median, 0);
  ASSERT_EQ(kernel.notes.size(), 1u);
  EXPECT_NE(kernel.notes[0].find("shared memory"), std::string::npos);
}

TEST_P(Profiles, TheLanesOfAWarpGoOnTogetherAfterAMark) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile kernel = profile_body(R"(
  float sum = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < 6; ++i) {
    if (i & 1) { OL_PHASE("odd"); } else { OL_PHASE("even"); }
    float d[4] = {sum, sum, sum, sum};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(int(threadIdx.x) & i));
    sum = d[0] + __shfl_xor_sync(~0u, d[3], 1);
  }
  if (sum == 12345.678f) args.y[0] = args.token[0];)");
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome);
  EXPECT_EQ(find(kernel, "odd")->passes, 3);
  EXPECT_EQ(find(kernel, "even")->passes, 3);
}

TEST_P(Profiles, MoreStampsThanThereIsRoomForAreCounted) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile kernel = profile_body("for (int i = 0; i < 3000; ++i) { OL_PHASE(\"many\"); }");
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome);
  ASSERT_FALSE(kernel.notes.empty());
  EXPECT_NE(kernel.notes[0].find("found no room"), std::string::npos);
  EXPECT_GT(find(kernel, "many")->passes, 1000);
}

class TimedBuilds : public Profiles {};  // compiling is the same everywhere

TEST_P(TimedBuilds, DoNotChangeWithTheMarks) {
  for (const auto& [name, variant] : {std::pair{"kimi_linear_decode", "tiny"}, {"llama_block_decode", ""}, {"rmsnorm_linear", "tiny"}}) {
    open(name, variant);
    const std::string unmarked = std::regex_replace(seed_, std::regex("OL_PHASE\\([^)]*\\);"), "");
    ASSERT_NE(unmarked, seed_);
    const auto with = sandbox_->compile({seed_, {}}, Deadline::after(clock_, Seconds(100)));
    const auto without = sandbox_->compile({unmarked, {}}, Deadline::after(clock_, Seconds(100)));
    ASSERT_TRUE(with && without);
    EXPECT_EQ(with->ptx, without->ptx) << name;
    EXPECT_EQ(with->cubin_sha256, without->cubin_sha256) << name;
    sandbox_.reset();
  }
}

TEST_P(Profiles, TheClockIsRefusedWhereItIsNotTheMarks) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile kernel = profile_body("unsigned long long t; asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); work(args, int(t % 2));");
  EXPECT_STREQ(name_of(kernel.outcome), "refused") << explain(kernel.outcome);
  EXPECT_TRUE(kernel.phases.empty());
}

TEST_P(Profiles, AKernelThatDoesNotCompileOrFaultsSaysSo) {
  open("rmsnorm_linear", "tiny");
  EXPECT_STREQ(name_of(profile_body("nonsense").outcome), "compile_failed");
  const KernelProfile faulty = profile_body("OL_PHASE(\"a\"); args.y[1 << 28] = args.token[0];");
  EXPECT_STREQ(name_of(faulty.outcome), "faulted");
  EXPECT_NE(explain(faulty.outcome).find("out_of_bounds"), std::string::npos) << explain(faulty.outcome);
}

class Probes : public Profiles {
 protected:
  // The seed of rmsnorm_linear with a mark after its first phase.
  KernelProfile probe(const std::string& mark) {
    std::string source = seed_;
    const std::string place = "  OL_PHASE(\"linear\");\n";
    source.replace(source.find(place), place.size(), mark);
    return profile(source);
  }
};

TEST_P(Probes, ARightValueIsRight) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile seed = probe("OL_PROBE(\"xn\", normed, kHidden);");
  ASSERT_STREQ(name_of(seed.outcome), "passed") << explain(seed.outcome);
  ASSERT_EQ(seed.probes.size(), 1u);
  EXPECT_TRUE(seed.probes[0].ok) << seed.probes[0].detail;
  EXPECT_EQ(seed.probes[0].copied, seed.probes[0].elements);
}

TEST_P(Probes, AWrongValueIsFoundAndItsPlaceToo) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile seed = probe("if (threadIdx.x == 0) normed[77] += 3; __syncthreads(); OL_PROBE(\"xn\", normed, kHidden);");
  ASSERT_EQ(seed.probes.size(), 1u);
  EXPECT_FALSE(seed.probes[0].ok);
  EXPECT_EQ(seed.probes[0].worst, 77u);
  EXPECT_NEAR(seed.probes[0].got, seed.probes[0].want + 3, 0.1);
  EXPECT_NE(seed.probes[0].detail.find("element 77"), std::string::npos);
}

TEST_P(Probes, BlocksThatDisagreeAreToldApart) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile seed = probe("if (blockIdx.x == 9 && threadIdx.x == 0) normed[5] = -8; __syncthreads(); OL_PROBE(\"xn\", normed, kHidden);");
  ASSERT_EQ(seed.probes.size(), 1u);
  EXPECT_FALSE(seed.probes[0].ok);
  EXPECT_NE(seed.probes[0].detail.find("element 5"), std::string::npos) << seed.probes[0].detail;
  EXPECT_NE(seed.probes[0].detail.find("block 9"), std::string::npos) << seed.probes[0].detail;
}

TEST_P(Probes, PartsOfAValueAreComparedWhereTheyBelong) {
  open("rmsnorm_linear", "tiny");
  const KernelProfile seed = probe("OL_PROBE(\"xn\", normed + 100, 50, 100);");
  ASSERT_EQ(seed.probes.size(), 1u);
  EXPECT_TRUE(seed.probes[0].ok) << seed.probes[0].detail;
  EXPECT_EQ(seed.probes[0].copied, 50u);
  const KernelProfile shifted = probe("OL_PROBE(\"xn\", normed + 100, 50, 101);");
  EXPECT_FALSE(shifted.probes.at(0).ok);
  const KernelProfile beyond = probe("OL_PROBE(\"xn\", normed, kHidden, 8);");
  EXPECT_FALSE(beyond.probes.at(0).ok);
}

TEST_P(Probes, ANameThatDoesNotExistIsRefusedWithThoseNearIt) {
  open("llama_block_decode", "");
  std::string source = seed_;
  const std::string place = "  OL_PHASE(\"gate_up\");\n";
  source.replace(source.find(place), place.size(), "OL_PROBE(\"layer.0.hh\", s.residual, 1);");
  const KernelProfile kernel = profile(source);
  ASSERT_STREQ(name_of(kernel.outcome), "refused");
  EXPECT_NE(explain(kernel.outcome).find("layer.0.hh"), std::string::npos);
  EXPECT_NE(explain(kernel.outcome).find("layer.0.h,"), std::string::npos) << explain(kernel.outcome);
  EXPECT_FALSE(kernel.phases.empty());  // the rest is told all the same
}

TEST_P(Probes, AStarInANameStandsForAnIndex) {
  open("llama_block_decode", "");
  std::string source = seed_;
  const std::string call = "    mlp(s, args, args.layer[layer], scratch);\n";
  source.replace(source.find(call), 0, "    OL_PROBE(\"layer.*.h\", s.residual, kHidden, 0, layer);\n");
  const KernelProfile kernel = profile(source);
  ASSERT_STREQ(name_of(kernel.outcome), "passed") << explain(kernel.outcome);
  ASSERT_EQ(kernel.probes.size(), 2u);
  EXPECT_EQ(kernel.probes[1].name, "layer.1.h");
  for (const ProbeResult& probe : kernel.probes) EXPECT_TRUE(probe.ok) << probe.name << ": " << probe.detail;
}

const auto kNames = [](const testing::TestParamInfo<bool>& info) { return info.param ? std::string("AsAGpu") : std::string("Emulated"); };
INSTANTIATE_TEST_SUITE_P(, Profiles, testing::Bool(), kNames);
INSTANTIATE_TEST_SUITE_P(, TimedBuilds, testing::Values(false), kNames);
INSTANTIATE_TEST_SUITE_P(, Probes, testing::Bool(), kNames);

}  // namespace
}  // namespace onelaunch::sandbox
