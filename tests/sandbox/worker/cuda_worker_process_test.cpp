// The whole GPU worker as a process of its own, confined as it is on a real card, with a GPU made of host memory.
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "sandbox/host/worker_process.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class GpuWorkers : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("LD_LIBRARY_PATH"); }
  void start(const std::string& role, bool gpu = true) {
    // Where libcuda.so.1 and its companions are looked for first.
    ::setenv("LD_LIBRARY_PATH", gpu ? ONELAUNCH_FAKE_GPU : "/nonexistent", 1);
    auto worker = WorkerProcess::spawn({ONELAUNCH_WORKER_PATH, role}, clock_);
    ASSERT_TRUE(worker) << worker.error().message;
    worker_ = std::move(*worker);
  }
  Answer ask(const std::string& body) { return worker_->call(body, -1, Deadline::after(clock_, Seconds(60)), scope_, "asking"); }
  std::string said(const std::string& body) {
    Answer answer = ask(body);
    const std::string* text = std::get_if<std::string>(&answer);
    EXPECT_NE(text, nullptr);
    return text != nullptr ? *text : "";
  }
  std::string how_it_ended() {
    const Answer answer = ask(encode(DeviceFacts()));
    const Crashed* crashed = std::get_if<Crashed>(&answer);
    return crashed != nullptr ? crashed->how : "it answers";
  }
  SetupReply set_up() {
    SetupJob job;
    job.modules = {{"candidate", "", "honest spin fault lose print escape"}, {"harness", "", "ol_gate ol_sweep"}};
    job.buffers = {{"x", 1000, false, 0}};
    return *decode_setup_reply(said(encode(job)));
  }
  static LaunchOrder order(const std::string& entry, double seconds_max = 30) {
    LaunchOrder order;
    order.module = "candidate", order.entry = entry, order.seconds_max = seconds_max;
    return order;
  }
  RunReply run(const LaunchOrder& order) {
    RunJob job;
    job.launches = {order};
    job.reads = {{"x", 0, 8, true}};
    return *decode_run_reply(said(encode(job)));
  }

  SystemClock clock_;
  Interrupts interrupts_;
  Interrupts::Scope scope_{interrupts_};
  std::unique_ptr<WorkerProcess> worker_;
};

TEST_F(GpuWorkers, DescribeTheirDevice) {
  start("cuda:0");
  const auto facts = decode_device_facts(said(encode(DeviceFacts())));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->problem, "");
  EXPECT_EQ(facts->target, "sm_90a");
  EXPECT_EQ(facts->driver_version, "580.159.04");
}

TEST_F(GpuWorkers, OfOtherDevicesSayHowManyThereAre) {
  start("cuda:7");
  EXPECT_THAT(decode_device_facts(said(encode(DeviceFacts())))->problem, HasSubstr("this machine has 1 GPU, cuda:0"));
}

TEST_F(GpuWorkers, WithoutADriverSaySo) {
  start("cuda:0", false);
  const std::string problem = decode_device_facts(said(encode(DeviceFacts())))->problem;
  if (problem.empty()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_THAT(problem, HasSubstr("there is no NVIDIA driver on this machine"));
}

TEST_F(GpuWorkers, OfNoDeviceDoNotStart) {
  for (const char* role : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
    start(role);
    EXPECT_EQ(how_it_ended(), "exit 2") << role;
  }
}

TEST_F(GpuWorkers, RunTimeAndCountWhenConfined) {
  start("cuda:0");
  ASSERT_EQ(set_up().problem, "");
  std::ifstream status("/proc/" + std::to_string(worker_->pid()) + "/status");
  const std::string text((std::istreambuf_iterator<char>(status)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("NoNewPrivs:\t1"));
  EXPECT_THAT(text, HasSubstr("Seccomp:\t2"));
  const RunReply ran = run(order("print"));
  EXPECT_EQ(ran.problem, "");
  ASSERT_EQ(ran.launches.size(), 1u);
  EXPECT_EQ(ran.launches[0].printed, "all work and no play\n");
  TimeJob time;
  time.chains.resize(1);
  time.chains[0].launches.assign(100, order("honest"));
  time.order = {0, 0};
  time.cold = true;
  const auto timed = decode_time_reply(said(encode(time)));
  EXPECT_EQ(timed->problem, "");
  EXPECT_EQ(timed->samples.size(), 2u);
  EXPECT_EQ(timed->samples.at(0).clocks.sm_mhz, 1980u);
  CountJob count;
  count.chain = time.chains[0];
  const auto counted = decode_count_reply(said(encode(count)));
  EXPECT_EQ(counted->problem, "");
  EXPECT_EQ(counted->kernels, 100u);
}

TEST_F(GpuWorkers, CanReachNothingOnceTheyLaunch) {
  start("cuda:0");
  ASSERT_EQ(set_up().problem, "");
  const RunReply reply = run(order("escape"));
  ASSERT_EQ(reply.launches.size(), 1u);
  EXPECT_EQ(reply.launches[0].printed,
            "read a file: denied\nwrite a file: denied\nconnect: denied\nfork: denied\nexecute: denied\n"
            "signal the host: denied\nstart a thread: done\n");
}

TEST_F(GpuWorkers, AnswerAFaultAndLeave) {
  start("cuda:0");
  ASSERT_EQ(set_up().problem, "");
  const RunReply reply = run(order("fault"));
  ASSERT_EQ(reply.launches.size(), 1u);
  EXPECT_EQ(reply.launches[0].faults.at(0).kind, "out_of_bounds");
  EXPECT_EQ(how_it_ended(), "exit 0");
}

TEST_F(GpuWorkers, AnswerAHangAndLeaveWithoutWaitingForIt) {
  start("cuda:0");
  ASSERT_EQ(set_up().problem, "");
  const RunReply reply = run(order("spin", 0.1));
  ASSERT_EQ(reply.launches.size(), 1u);
  EXPECT_EQ(reply.launches[0].faults.at(0).kind, "time_limit");
  EXPECT_EQ(how_it_ended(), "exit 0");
}

TEST_F(GpuWorkers, CallALostDeviceAProblemAndLeave) {
  start("cuda:0");
  ASSERT_EQ(set_up().problem, "");
  EXPECT_THAT(run(order("lose")).problem, HasSubstr("CUDA_ERROR_ECC_UNCORRECTABLE"));
  EXPECT_EQ(how_it_ended(), "exit 0");
}

// A host that was killed closes its end of the socket: shut down here, so that the process can still be waited for.
TEST_F(GpuWorkers, EndWithTheHostInMidLaunch) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  UniqueFd theirs(pair[1]);
  FrameChannel host{UniqueFd(pair[0])};
  const std::string library_path = std::string("LD_LIBRARY_PATH=") + ONELAUNCH_FAKE_GPU;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(theirs.get(), 3);
    char name[] = "onelaunch-worker", role[] = "cuda:0";
    char* arguments[] = {name, role, nullptr};
    char* environment[] = {const_cast<char*>(library_path.c_str()), nullptr};
    ::execve(ONELAUNCH_WORKER_PATH, arguments, environment);
    ::_exit(127);
  }
  theirs.reset();
  SetupJob setup;
  setup.modules = {{"candidate", "", "spin"}};
  ASSERT_FALSE(host.send(1, encode(setup), -1, {}));
  const auto answer = host.receive({});
  ASSERT_TRUE(std::holds_alternative<Frame>(answer));
  ASSERT_EQ(decode_setup_reply(std::get<Frame>(answer).body)->problem, "");
  RunJob job;
  job.launches = {order("spin", 1000)};
  ASSERT_FALSE(host.send(2, encode(job), -1, {}));
  ::shutdown(host.fd(), SHUT_RDWR);
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << status;
}

}  // namespace
}  // namespace onelaunch::sandbox
