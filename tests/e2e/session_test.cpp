// Whole sessions with the real programs: NVRTC, the worker and the emulated device; no GPU.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <set>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"
#include "traces/fold.h"
#include "traces/reader.h"
#include "traces/verify.h"

namespace onelaunch::e2e {
namespace {

using Words = std::vector<std::string>;

struct E2e : testing::Test {
  Ended run(Words arguments) const { return onelaunch(arguments, folder.path().string()); }
  // onelaunch run rmsnorm_linear --variant tiny --device emu ...
  Words session(const Words& more) const {
    Words words = {"run", "rmsnorm_linear", "--variant", "tiny", "--device", "emu", "--publish", path("published")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words command(const Words& arguments) const {
    Words words = {onelaunch_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  traces::SessionState folded(const std::string& run_name) const {
    traces::SessionState state;
    const auto read = traces::read_trace(path(run_name), [&](const traces::Record& r) { return state.apply(r), true; });
    EXPECT_TRUE(read) << read.error().message;
    return state;
  }
  void expect_sound(const std::string& run_name) const {
    const auto report = traces::verify_trace(path(run_name));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->ok()) << traces::describe(*report);
  }

  TemporaryFolder folder;
};

std::string seed_kernel() {
  return read_file(std::string(ONELAUNCH_TASKS_FOLDER) + "/rmsnorm_linear/seed.cu", 1 << 20).value_or("");
}

TEST_F(E2e, RunsASessionThatEndsByItselfAndLeavesEverythingBehind) {
  const Ended ended = run(session({"--wall", "5s", "--out", path("run")}));
  ASSERT_EQ(ended.code, 0) << ended.out;
  expect_sound("run");
  const traces::SessionState state = folded("run");
  ASSERT_TRUE(state.end) << ended.out;
  EXPECT_TRUE(state.end->reason == "cap" || state.end->reason == "finished") << state.end->reason;
  EXPECT_LE(state.active_s, 7);
  double attributed = 0;
  for (const auto& [kind, seconds] : state.end->attribution_s) attributed += seconds;
  EXPECT_NEAR(attributed, state.active_s, 0.01 * state.active_s) << "every second of the session is some activity's";
  EXPECT_GE(state.decisions, 1) << ended.out;
  EXPECT_TRUE(state.verified()) << ended.out;
  EXPECT_TRUE(state.baselines.contains("eager"));
  EXPECT_EQ(state.kind(), "modelled");
  for (const char* file : {"kernel.cu", "kernel.cubin", "card.json"})
    EXPECT_TRUE(std::filesystem::exists(path("run") + "/best/" + file)) << file;
  EXPECT_TRUE(std::filesystem::exists(path("run") + "/bundle.json"));
  EXPECT_NE(ended.out.find("modelled"), std::string::npos);

  const Ended view = run({"replay", path("run"), "--view"});
  EXPECT_EQ(view.code, 0) << view.out;
  EXPECT_NE(view.out.find("c0"), std::string::npos) << view.out;
  const Ended board = run({"leaderboard", path("run"), "--format", "csv"});
  EXPECT_EQ(board.code, 0) << board.out;
  EXPECT_NE(board.out.find("rmsnorm_linear"), std::string::npos) << board.out;
  const Ended verified = run({"trace", "verify", path("run")});
  EXPECT_EQ(verified.code, 0) << verified.out;
  const Ended best = run({"eval", "rmsnorm_linear", path("run") + "/best/kernel.cu", "--variant", "tiny"});
  EXPECT_EQ(best.code, 0) << best.out;
}

TEST_F(E2e, SurvivesKillAtAnyMomentAndResumes) {
  {
    Program program(command(session({"--wall", "60s", "--out", path("run")})), folder.path().string());
    ASSERT_TRUE(program.read_until("   1  ")) << program.output();
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  const traces::SessionState before = folded("run");
  EXPECT_FALSE(before.end);
  ASSERT_GE(before.decisions, 1);
  EXPECT_EQ(run({"eval", "rmsnorm_linear", path("run") + "/best/kernel.cu", "--variant", "tiny"}).code, 0);
  EXPECT_EQ(run({"replay", path("run"), "--view"}).code, 0);

  const Ended other = run({"run", "kimi_linear_decode", "--resume", path("run")});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.out.find("rmsnorm_linear"), std::string::npos) << other.out;

  const std::string wall = std::to_string(before.active_s + 6) + "s";
  const Ended resumed = run({"run", "--resume", path("run"), "--wall", wall, "--publish", path("published")});
  ASSERT_EQ(resumed.code, 0) << resumed.out;
  expect_sound("run");
  const traces::SessionState after = folded("run");
  EXPECT_EQ(after.legs, 2);
  ASSERT_TRUE(after.end);
  EXPECT_GE(after.active_s, before.active_s);
  EXPECT_LE(after.active_s, before.active_s + 8);
  std::set<std::map<std::string, std::string>> judged;
  for (const traces::Attempt& attempt : after.attempts) {
    if (!attempt.decision || attempt.is_seed()) continue;
    EXPECT_TRUE(judged.insert(attempt.candidate.tunables).second) << "judged twice";
  }

  const Ended again = run({"run", "--resume", path("run")});
  EXPECT_EQ(again.code, 2) << again.out;
  EXPECT_NE(again.out.find("has ended"), std::string::npos) << again.out;
  EXPECT_TRUE(folded("run").verified());
}

TEST_F(E2e, TakesKernelsFromOutsideAndEndsCleanlyOnCtrlC) {
  Program program(command({"run", "rmsnorm_linear", "--variant", "tiny", "--agent", "external", "--wall", "120s",
                           "--out", path("run"), "--publish", path("published")}),
                  folder.path().string());
  ASSERT_TRUE(program.read_until("seed ")) << program.output();
  write("same.cu", seed_kernel());
  write("broken.cu", "#include <onelaunch.cuh>\nthis is no kernel\n");

  const Ended reverted = run({"submit", path("run"), path("same.cu"), "--note", "the seed again", "--predict", "10"});
  EXPECT_EQ(reverted.code, 4) << reverted.out;
  const Ended rejected = run({"submit", path("run"), path("broken.cu"), "--json"});
  EXPECT_EQ(rejected.code, 3) << rejected.out;
  EXPECT_NE(rejected.out.find("compile_failed"), std::string::npos) << rejected.out;

  program.signal(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.out;
  const traces::SessionState state = folded("run");
  ASSERT_TRUE(state.end);
  EXPECT_EQ(state.end->reason, "interrupted");
  EXPECT_EQ(state.decisions, 2);

  const Ended late = run({"submit", path("run"), path("same.cu")});
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.out.find("--resume"), std::string::npos) << late.out;
}

TEST_F(E2e, PrintsItsResultAsJsonForPrograms) {
  const Ended ended = run(session({"--wall", "4s", "--out", path("run"), "--json"}));
  ASSERT_EQ(ended.code, 0) << ended.out;
  EXPECT_EQ(ended.out.front(), '{');
  EXPECT_NE(ended.out.find("\"kind\": \"modelled\""), std::string::npos) << ended.out;
}

TEST_F(E2e, ReportsAFullDiskAsItsOwnErrorAndKeepsTheTraceReadable) {
  // A small file system of our own stands for a full disk.
  std::filesystem::create_directory(path("small"));
  const std::string script = "mount -t tmpfs -o size=96k none '" + path("small") + "' || exit 99; '" +
                             onelaunch_path() + "' run rmsnorm_linear --variant tiny --wall 20s --out '" +
                             path("small") + "/run' --publish '" + path("published") + "'; code=$?; cp -r '" +
                             path("small") + "/run' '" + path("copy") + "'; exit $code";
  const Ended ended =
      Program({"/usr/bin/env", "unshare", "-r", "-m", "sh", "-c", script}, folder.path().string()).wait();
  if (ended.code == 99 || ended.out.find("unshare") != std::string::npos)
    GTEST_SKIP() << "no mount namespace here: " << ended.out;
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_NE(ended.out.find("No space left"), std::string::npos) << ended.out;
  EXPECT_TRUE(traces::read_trace(path("copy"), [](const traces::Record&) { return true; }));
}

}  // namespace
}  // namespace onelaunch::e2e
