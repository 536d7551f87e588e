#include "sandbox/worker/cuda_candidate.h"

#include <gmock/gmock.h>

#include "base/sha256.h"
#include "sandbox/protocol/poison.h"
#include "tests/sandbox/worker/cuda_bench.h"

namespace onelaunch::worker {
namespace {

using fakes::FakeLaunch;
using sandbox::LaunchFault;
using sandbox::RunJob;
using sandbox::RunReply;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CudaCandidates : public OnAFakeGpu {
 protected:
  RunReply launch_once(const sandbox::LaunchOrder& one) {
    RunJob job;
    job.launches = {one};
    return candidate().run(job);
  }
  // Of the only launch; empty when it was well.
  static LaunchFault fault_of(const RunReply& reply) {
    EXPECT_EQ(reply.problem, "");
    EXPECT_EQ(reply.launches.size(), 1u);
    const auto& faults = reply.launches.at(0).faults;
    return faults.empty() ? LaunchFault() : faults.front();
  }
  static RunJob reading(const std::string& buffer) {
    RunJob job;
    job.reads = {{buffer, 0, kBytes, false}};
    return job;
  }
};

TEST_F(CudaCandidates, SayWhatTheCandidateConsistsOf) {
  open();
  const sandbox::SetupReply reply = candidate_->set_up(setup());
  EXPECT_EQ(reply.problem, "");
  EXPECT_THAT(reply.entries, ElementsAre("megakernel", "prepare"));
}

TEST_F(CudaCandidates, NameTheBufferThatMemoryDoesNotSufficeFor) {
  open();
  sandbox::SetupJob job = setup();
  job.buffers.push_back({"states", 128 << 20, false, 0});
  EXPECT_THAT(candidate_->set_up(job).problem,
              AllOf(HasSubstr("making the buffer states of 134217728 bytes"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
}

TEST_F(CudaCandidates, NameTheKernelsThatTheDriverDoesNotLoad) {
  open();
  fake_.failing["cuModuleLoadData"] = CUDA_ERROR_NO_BINARY_FOR_GPU;
  EXPECT_THAT(candidate_->set_up(setup()).problem, AllOf(HasSubstr("loading the kernels candidate"), HasSubstr("--target")));
}

TEST_F(CudaCandidates, TakeNoWeightsFromTheHost) {
  open();
  sandbox::SetupJob job = setup();
  job.buffers[0].weights = true;
  EXPECT_THAT(candidate_->set_up(job).problem, HasSubstr("on a GPU they are made there"));
}

TEST_F(CudaCandidates, ReplaceEverythingAtTheNextSetUp) {
  candidate();
  const auto before = fake_.alive;
  EXPECT_EQ(candidate_->set_up(setup()).problem, "");
  EXPECT_EQ(fake_.alive, before);
}

TEST_F(CudaCandidates, FillThenWriteThenCopyThenRead) {
  RunJob job = reading("y");
  job.fills = {{"x", false, 0}, {"y", true, 7}};
  job.writes = {{"x", 2, "abc"}};
  job.copies = {{"x", 1, "y", 990, 5}};
  job.reads.push_back({"x", 0, 6, true});
  const RunReply reply = candidate().run(job);
  ASSERT_EQ(reply.problem, "");
  std::string wanted(kBytes, '\0');
  sandbox::fill_poison(std::as_writable_bytes(std::span(wanted)), 7);
  wanted.replace(990, 5, std::string("\0abc\0", 5));
  ASSERT_EQ(reply.reads.size(), 2u);
  EXPECT_EQ(reply.reads[0], wanted);
  EXPECT_EQ(reply.reads[1], sha256_hex(std::string("\0\0abc\0", 6)));
}

TEST_F(CudaCandidates, RefuseOrdersForWhatIsNotThere) {
  candidate();
  RunJob beyond = reading("x");
  beyond.reads[0].bytes = kBytes + 1;
  EXPECT_THAT(candidate_->run(beyond).problem, HasSubstr("a part of x that does not exist"));
  RunJob unknown;
  unknown.writes = {{"z", 0, "a"}};
  EXPECT_THAT(candidate_->run(unknown).problem, HasSubstr("a part of z that does not exist"));
  RunJob elsewhere;
  elsewhere.launches = {order()};
  elsewhere.launches[0].module = "incumbent";
  EXPECT_THAT(candidate_->run(elsewhere).problem, HasSubstr("kernels incumbent that were not loaded"));
  RunJob misplaced;
  misplaced.launches = {order()};
  misplaced.launches[0].relocations[0].offset = 9;
  EXPECT_THAT(candidate_->run(misplaced).problem, HasSubstr("a part of x that does not exist"));
  EXPECT_FALSE(candidate_->lost());
}

TEST_F(CudaCandidates, DoNothingBeforeTheyAreSetUp) {
  open();
  EXPECT_EQ(candidate_->run(reading("x")).problem, "nothing is set up");
}

TEST_F(CudaCandidates, SealBuffersAgainstEverybody) {
  RunJob job;
  job.seals = {"x"};
  ASSERT_EQ(candidate().run(job).problem, "");
  EXPECT_EQ(fake_.accesses.back().second, CU_MEM_ACCESS_FLAGS_PROT_READ);
  RunJob writing;
  writing.writes = {{"x", 0, "a"}};
  EXPECT_THAT(candidate_->run(writing).problem, HasSubstr("x"));
  EXPECT_EQ(candidate_->run(reading("x")).problem, "");
}

TEST_F(CudaCandidates, LaunchCooperativelyWithAddressesInTheirPlaces) {
  const RunReply reply = launch_once(order());
  EXPECT_EQ(fault_of(reply).kind, "");
  ASSERT_EQ(fake_.launches.size(), 1u);
  const FakeLaunch& launch = fake_.launches[0];
  EXPECT_EQ(launch.kernel, "megakernel");
  EXPECT_TRUE(launch.cooperative);
  EXPECT_EQ(launch.grid, 4u);
  EXPECT_EQ(launch.block, 64u);
  EXPECT_EQ(launch.cluster, 1u);
  ASSERT_EQ(launch.words.size(), 2u);
  EXPECT_NE(launch.words[0], 0u);
  EXPECT_EQ(launch.words[1] % cuda::GuardedBuffer::kAlignment, 8u) << "the addend";
}

TEST_F(CudaCandidates, LaunchPreparationPlainly) {
  sandbox::LaunchOrder plain = order("prepare");
  plain.cooperative = false;
  plain.grid = 1000;
  EXPECT_EQ(fault_of(launch_once(plain)).kind, "") << "more blocks than fit at once are fine";
  EXPECT_FALSE(fake_.launches.at(0).cooperative);
}

TEST_F(CudaCandidates, AskForLargeSharedMemoryAndLargeClusters) {
  sandbox::LaunchOrder large = order();
  large.dynamic_smem = 200'000, large.cluster = 16, large.grid = 32;
  EXPECT_EQ(fault_of(launch_once(large)).kind, "");
  EXPECT_EQ(fake_.granted_smem.at("megakernel"), 200'000);
  EXPECT_EQ(fake_.launches.at(0).cluster, 16u);
  EXPECT_EQ(fake_.calls_among({"allow large clusters"}).size(), 1u);
}

TEST_F(CudaCandidates, NeverTakeSharedMemoryBackThatAnEarlierOrderNeeds) {
  RunJob job;
  job.launches = {order(), order()};
  job.launches[0].dynamic_smem = 200'000, job.launches[1].dynamic_smem = 100'000;
  EXPECT_EQ(candidate().run(job).problem, "");
  EXPECT_EQ(fake_.granted_smem.at("megakernel"), 200'000);
}

TEST_F(CudaCandidates, SayHowManyBlocksFit) {
  sandbox::LaunchOrder large = order();
  large.grid = 9, large.dynamic_smem = 1024;  // 4 multiprocessors with 2 blocks each
  const LaunchFault fault = fault_of(launch_once(large));
  EXPECT_EQ(fault.kind, "not_resident");
  EXPECT_THAT(fault.message, HasSubstr("a cooperative grid of 9 blocks of 64 threads with 1024 bytes of dynamic shared memory; 8 blocks fit"));
  EXPECT_THAT(fake_.launches, IsEmpty()) << "it must not be tried";
  EXPECT_FALSE(candidate_->lost());
}

TEST_F(CudaCandidates, SayHowManyClustersFit) {
  sandbox::LaunchOrder large = order();
  large.grid = 8, large.cluster = 2;
  const LaunchFault fault = fault_of(launch_once(large));
  EXPECT_EQ(fault.kind, "not_resident");
  EXPECT_THAT(fault.message, HasSubstr("3 clusters of 2 fit on the device at once"));
}

TEST_F(CudaCandidates, SayThatNotEvenOneBlockFits) {
  fake_.blocks_that_fit = 0;
  EXPECT_THAT(fault_of(launch_once(order())).message, HasSubstr("0 blocks fit"));
}

struct Meaning {
  CUresult result;
  const char* kind;
  bool lost;
};
class CudaFaults : public CudaCandidates, public testing::WithParamInterface<Meaning> {};

TEST_P(CudaFaults, AreToldByKind) {
  fake_.on_launch = [&](const FakeLaunch&) {
    if (!GetParam().lost) return GetParam().result;
    return fake_.fault(GetParam().result), CUDA_SUCCESS;
  };
  const LaunchFault fault = fault_of(launch_once(order()));
  EXPECT_EQ(fault.kind, GetParam().kind);
  EXPECT_THAT(fault.message, HasSubstr("megakernel"));
  EXPECT_EQ(candidate_->lost(), GetParam().lost);
}

INSTANTIATE_TEST_SUITE_P(All, CudaFaults,
                         testing::Values(Meaning{CUDA_ERROR_ILLEGAL_ADDRESS, "out_of_bounds", true},
                                         Meaning{CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned", true},
                                         Meaning{CUDA_ERROR_INVALID_ADDRESS_SPACE, "wrong_space", true},
                                         Meaning{CUDA_ERROR_ILLEGAL_INSTRUCTION, "trap", true},
                                         Meaning{CUDA_ERROR_INVALID_PC, "trap", true},
                                         Meaning{CUDA_ERROR_LAUNCH_FAILED, "trap", true},
                                         Meaning{CUDA_ERROR_ASSERT, "trap", true},
                                         Meaning{CUDA_ERROR_LAUNCH_TIMEOUT, "time_limit", true},
                                         Meaning{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "not_resident", false},
                                         Meaning{CUDA_ERROR_INVALID_CLUSTER_SIZE, "not_resident", false},
                                         Meaning{CUDA_ERROR_INVALID_VALUE, "not_resident", false}));

class LostDevices : public CudaCandidates, public testing::WithParamInterface<CUresult> {};

TEST_P(LostDevices, AreNoFaultOfTheKernel) {
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.fault(GetParam()), CUDA_SUCCESS; };
  const RunReply reply = launch_once(order());
  EXPECT_THAT(reply.problem, HasSubstr("megakernel"));
  for (const auto& launch : reply.launches) EXPECT_THAT(launch.faults, IsEmpty());
  EXPECT_TRUE(candidate_->lost());
}

INSTANTIATE_TEST_SUITE_P(All, LostDevices, testing::Values(CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_DEVICE_UNAVAILABLE, CUDA_ERROR_UNKNOWN, CUDA_ERROR_NVLINK_UNCORRECTABLE));

TEST_F(CudaCandidates, GiveUpOnAKernelThatDoesNotReturn) {
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.hang(), CUDA_SUCCESS; };
  const double before = clock_.now().count();
  const LaunchFault fault = fault_of(launch_once(order()));
  EXPECT_EQ(fault.kind, "time_limit");
  EXPECT_THAT(fault.message, HasSubstr("megakernel had not returned after 2 s"));
  EXPECT_TRUE(candidate_->lost());
  EXPECT_GT(clock_.now().count() - before, 2);
  EXPECT_LT(clock_.now().count() - before, 2.2);
}

TEST_F(CudaCandidates, StopAtTheFirstLaunchThatFaults) {
  RunJob job = reading("x");
  job.launches = {order(), order(), order()};
  int launched = 0;
  fake_.on_launch = [&](const FakeLaunch&) {
    if (++launched == 2) fake_.fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    return CUDA_SUCCESS;
  };
  const RunReply reply = candidate().run(job);
  EXPECT_EQ(launched, 2);
  ASSERT_EQ(reply.launches.size(), 2u);
  EXPECT_THAT(reply.launches[0].faults, IsEmpty());
  EXPECT_EQ(reply.launches[1].faults.at(0).kind, "out_of_bounds");
  EXPECT_THAT(reply.reads, IsEmpty());
}

TEST_F(CudaCandidates, NeverFillTheDriversQueue) {
  RunJob job;
  job.launches.assign(2000, order("prepare"));
  for (sandbox::LaunchOrder& one : job.launches) one.cooperative = false;
  std::size_t queued = 0, most = 0;
  fake_.on_launch = [&](const FakeLaunch&) { return most = std::max(most, ++queued), CUDA_SUCCESS; };
  fake_.on_query = [&] { queued = 0; };
  EXPECT_EQ(candidate().run(job).launches.size(), 2000u);
  EXPECT_LE(most, 500u);
}

TEST_F(CudaCandidates, LaunchAgainWhatWasKept) {
  RunJob job;
  job.keep.assign(3, order("prepare"));
  for (std::size_t i = 0; i < 3; ++i) job.keep[i].grid = i + 1, job.keep[i].cooperative = false;
  EXPECT_THAT(candidate().run(job).launches, IsEmpty()) << "kept is not launched";
  EXPECT_THAT(fake_.launches, IsEmpty());
  job = reading("x");
  job.again = {1, 2};
  const RunReply reply = candidate_->run(job);
  EXPECT_EQ(reply.problem, "");
  EXPECT_EQ(reply.launches.size(), 2u);
  EXPECT_EQ(reply.reads.size(), 1u);
  ASSERT_EQ(fake_.launches.size(), 2u);
  EXPECT_EQ(fake_.launches[0].grid, 2u);
  EXPECT_EQ(fake_.launches[1].grid, 3u);
  EXPECT_NE(fake_.launches[1].words.at(0), 0u) << "its addresses are in their places";
}

TEST_F(CudaCandidates, StopAtAKeptLaunchThatFaults) {
  RunJob job = reading("x");
  job.keep.assign(2, order());
  job.again = {0, 2};
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.fault(CUDA_ERROR_ILLEGAL_ADDRESS), CUDA_SUCCESS; };
  const RunReply reply = candidate().run(job);
  ASSERT_FALSE(reply.launches.empty());
  EXPECT_EQ(reply.launches.back().faults.at(0).kind, "out_of_bounds");
  EXPECT_THAT(reply.reads, IsEmpty());
}

TEST_F(CudaCandidates, RefuseToLaunchWhatIsNotKept) {
  RunJob job;
  job.keep.assign(2, order());
  job.again = {1, 2};
  EXPECT_THAT(candidate().run(job).problem, HasSubstr("not kept"));
  EXPECT_THAT(fake_.launches, IsEmpty());
  EXPECT_EQ(candidate_->set_up(setup()).problem, "");
  job.keep.clear();
  job.again = {0, 1};
  EXPECT_THAT(candidate_->run(job).problem, HasSubstr("not kept")) << "a new set-up forgets";
}

TEST_F(CudaCandidates, PassOnWhatIsPrintedAndWhoPrintedIt) {
  RunJob job;
  job.launches = {order(), order()};
  int launched = 0;
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.print("line " + std::to_string(++launched) + "\n"), CUDA_SUCCESS; };
  const RunReply reply = candidate().run(job);
  ASSERT_EQ(reply.launches.size(), 2u);
  EXPECT_EQ(reply.launches[0].printed, "line 1\n");
  EXPECT_EQ(reply.launches[1].printed, "line 2\n");
  EXPECT_FALSE(reply.launches[1].printed_truncated);
}

TEST_F(CudaCandidates, CutAFloodOfPrintedLinesOff) {
  fake_.on_launch = [&](const FakeLaunch&) { return fake_.print(std::string(1 << 20, 'x')), CUDA_SUCCESS; };
  const RunReply reply = launch_once(order());
  EXPECT_EQ(fault_of(reply).kind, "");
  EXPECT_TRUE(reply.launches[0].printed_truncated);
  EXPECT_EQ(reply.launches[0].printed.size(), static_cast<std::size_t>(PrintedOutput::kBytesMax));
}

TEST_F(CudaCandidates, NameTheBufferThatWasWrittenBeside) {
  fake_.on_launch = [&](const FakeLaunch& launch) { return at(launch.words[0])[-1] = std::byte{1}, CUDA_SUCCESS; };
  const LaunchFault fault = fault_of(launch_once(order()));
  EXPECT_EQ(fault.kind, "out_of_bounds");
  EXPECT_EQ(fault.message, "megakernel wrote before or behind the buffer x");
}

TEST_F(CudaCandidates, NameTheBufferThatAPreparationWroteBeside) {
  fake_.on_launch = [&](const FakeLaunch& launch) { return at(launch.words[0])[kBytes] = std::byte{1}, CUDA_SUCCESS; };
  sandbox::LaunchOrder plain = order("prepare");
  plain.cooperative = false;
  RunJob job;
  job.launches = {plain};
  job.seals = {"x"};
  const RunReply reply = candidate().run(job);
  EXPECT_EQ(fault_of(reply).message, "prepare wrote before or behind the buffer x");
}

TEST_F(CudaCandidates, TakeEverythingApartBeforeTheStreamAndTheContext) {
  candidate();
  candidate_.reset();
  ASSERT_FALSE(fake_.calls.empty());
  EXPECT_EQ(fake_.calls.back(), "cuStreamDestroy");
  EXPECT_THAT(fake_.alive, ElementsAre("context"));
  device_.reset();
  EXPECT_EQ(fake_.calls.back(), "cuDevicePrimaryCtxRelease");
}

}  // namespace
}  // namespace onelaunch::worker
