// Every tool once, in order, in a real session on the emulator, through its socket; and bad arguments for each.

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "agent/external/external_agent.h"
#include "agent/external/session_client.h"
#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"
#include "tests/agent/session_fixture.h"
#include "traces/verify.h"

namespace onelaunch::agent {
namespace {

using testing::HasSubstr;

class ToolsInASession : public testing::Test {
 protected:
  void SetUp() override {
    auto task = tasks::load_task("rmsnorm_linear", "tiny");
    ASSERT_TRUE(task) << task.error().message;
    task_ = std::move(*task);
    auto seed = tasks::seed_kernel(task_);
    ASSERT_TRUE(seed) << seed.error().message;
    seed_ = *seed;
    sandbox::EmulatedOptions options;
    options.worker = ONELAUNCH_WORKER_PATH;
    options.cache = folder_.path() / "cache";
    auto sandbox = sandbox::open_emulated(task_, options, clock_);
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    sandbox_ = std::move(*sandbox);
  }

  // Runs a session whose outside is `client`, in a thread of its own.
  Result<SessionResult> run(const std::function<void()>& client) {
    const std::filesystem::path run = folder_.path() / "run";
    auto writer = traces::Writer::create(run, clock_);
    EXPECT_TRUE(writer) << writer.error().message;
    auto listening = ExternalAgent::listen(run, clock_, stop_);
    EXPECT_TRUE(listening) << listening.error().message;
    std::optional<ExternalAgent> agent(std::move(*listening));
    SessionOptions options;
    options.wall = Seconds(3600);
    options.harness_version = "0.1.0";
    std::thread outside(client);
    auto result = Session(task_, seed_, {*sandbox_, clock_, *agent, observer_, stop_, *writer}, options).run();
    agent.reset();  // who still waits in line is sent away
    outside.join();
    return result;
  }
  ToolAnswer call(const std::string& name, const std::string& arguments) {
    const auto answer = call_tool(folder_.path() / "run", name, arguments);
    EXPECT_TRUE(answer) << name << ": " << answer.error().message;
    return answer.value_or(ToolAnswer{});
  }
  std::string good(const std::string& name, const std::string& arguments = "{}") {
    const ToolAnswer answer = call(name, arguments);
    EXPECT_FALSE(answer.error) << name << ": " << answer.text;
    return answer.text;
  }
  std::string bad(const std::string& name, const std::string& arguments) {
    const ToolAnswer answer = call(name, arguments);
    EXPECT_TRUE(answer.error) << name << " " << arguments << ": " << answer.text;
    return answer.text;
  }

  TemporaryFolder folder_;
  SystemClock clock_;
  tasks::Task task_;
  std::string seed_;
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  fakes::QuietObserver observer_;
  StopRequest stop_;
};

TEST_F(ToolsInASession, WorkOnceEachInOrder) {
  const auto result = run([this] {
    EXPECT_THAT(good("read_kernel"), HasSubstr("megakernel"));
    good("write_kernel", R"({"source":"#include <onelaunch.cuh>\n"})");
    bad("compile", "{}");
    good("revert", R"({"id":"c0"})");
    good("str_replace", R"({"old":"1e-6f);\n","new":"1e-6f) * one;\n"})");
    EXPECT_THAT(bad("compile", "{}"), HasSubstr("kernel.cu(38): error: identifier \"one\" is undefined"));
    good("apply_patch",
         R"({"patch":"*** Begin Patch\n*** Update File: kernel.cu\n@@ float total = 0;\n   for (int w = 0; w < kWarps; ++w) total += sums[w];\n+  const float one = 1;\n*** End Patch"})");
    EXPECT_THAT(good("compile"), HasSubstr("registers a thread"));
    EXPECT_THAT(good("evaluate", R"({"note":"times one, wider","predict_us":5,"defines":["BLOCK=256"]})"), HasSubstr("c1: KEPT"));
    EXPECT_THAT(good("profile"), HasSubstr("norm"));
    EXPECT_THAT(good("microbench"), HasSubstr("floor at context"));
    EXPECT_THAT(good("emulate"), HasSubstr("no race between blocks"));
    EXPECT_THAT(good("disassemble", R"({"pattern":"ld\\.shared"})"), HasSubstr("lines match"));
    EXPECT_THAT(good("history"), HasSubstr("c1 | c0 | keep"));
    EXPECT_THAT(good("history", R"({"id":"c1"})"), HasSubstr("+  const float one = 1;"));
    good("revert", R"({"id":"c1"})");
    EXPECT_THAT(bad("evaluate", R"({"note":"again","defines":["BLOCK=256"]})"), HasSubstr("the code of c1, byte for byte"));
    good("notes", R"({"text":"256 threads are better"})");
    for (const char* section : {"prose", "rules", "header", "floor", "probes"})
      good("task", std::string(R"({"section":")") + section + "\"}");
    EXPECT_TRUE(call("finish", R"({"reason":"a test"})").finished);
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::finished);
  EXPECT_THAT(result->detail, HasSubstr("a test"));
  EXPECT_EQ(result->best, "c1");
  EXPECT_EQ(result->decisions, 1);
  EXPECT_TRUE(result->verified);
  const auto verified = traces::verify_trace(folder_.path() / "run");
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_TRUE(verified->ok()) << traces::describe(*verified);
}

TEST_F(ToolsInASession, BadArgumentsChangeNothing) {
  const auto result = run([this] {
    const std::string before = good("read_kernel");
    for (const char* name : {"read_kernel", "write_kernel", "str_replace", "apply_patch", "compile", "evaluate", "profile", "microbench",
                             "emulate", "disassemble", "history", "revert", "notes", "task", "finish"}) {
      EXPECT_THAT(bad(name, R"({"unheard_of":1})"), HasSubstr("expected arguments")) << name;
      bad(name, "[]");
      bad(name, "{\"cut\": \"o");
    }
    EXPECT_EQ(good("read_kernel").substr(0, 2000), before.substr(0, 2000));
    good("finish", R"({"reason":"a test"})");
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->decisions, 0);
}

TEST_F(ToolsInASession, RacesBetweenBlocksAreFound) {
  const auto result = run([this] {
    // All blocks add to one word of scratch, which is then nobody's.
    good("apply_patch",
         R"({"patch":"*** Begin Patch\n*** Update File: kernel.cu\n@@\n-OL_LAUNCH(.block = BLOCK, .grid = ol::per_sm(BLOCKS_PER_SM))\n+OL_LAUNCH(.block = BLOCK, .grid = ol::per_sm(BLOCKS_PER_SM), .scratch_bytes = 256)\n@@\n   OL_PHASE(\"norm\");\n+  if (threadIdx.x == 0) *reinterpret_cast<int*>(args.scratch) = int(blockIdx.x);\n*** End Patch"})");
    const std::string said = good("emulate", R"({"schedules":2})");
    EXPECT_THAT(said, HasSubstr("race"));
    EXPECT_THAT(said, testing::Not(HasSubstr("no race")));
    good("finish", R"({"reason":"a test"})");
  });
  ASSERT_TRUE(result) << result.error().message;
}

TEST_F(ToolsInASession, AWishToStopEndsARunningCall) {
  const auto result = run([this] {
    good("read_kernel");
    stop_.raise();
    const auto answer = call_tool(folder_.path() / "run", "compile", "{}");
    EXPECT_TRUE(!answer || answer->error);
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->reason, StopReason::interrupted);
  EXPECT_TRUE(result->verified);
}

}  // namespace
}  // namespace onelaunch::agent
