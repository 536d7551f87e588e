#include "sandbox/host/worker_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "sandbox/protocol/messages.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class Workers : public testing::Test {
 protected:
  std::unique_ptr<WorkerProcess> spawn(const std::filesystem::path& executable) {
    auto worker = WorkerProcess::spawn({executable, "emu"}, clock_);
    return worker ? std::move(*worker) : nullptr;
  }
  std::filesystem::path script(const std::string& text) {
    const auto path = folder_.path / "worker";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  Deadline soon() const { return Deadline::after(clock_, Seconds(60)); }
  static std::string question() {
    DeviceFacts wanted;
    wanted.target = "sm_90a";
    return encode(wanted);
  }

  SystemClock clock_;
  Interrupts interrupts_;
  Interrupts::Scope scope_{interrupts_};
  TemporaryFolder folder_;
};

TEST_F(Workers, AnswerAndCanBeAskedAgain) {
  const auto worker = spawn(ONELAUNCH_WORKER_PATH);
  ASSERT_NE(worker, nullptr);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = worker->call(question(), -1, soon(), scope_, "asking");
    ASSERT_TRUE(std::holds_alternative<std::string>(answer));
    const auto facts = decode_device_facts(std::get<std::string>(answer));
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->sms, 132);
  }
}

TEST_F(Workers, ThatAreKilledAreReportedWithTheSignalAndCanBeReplaced) {
  auto worker = spawn(ONELAUNCH_WORKER_PATH);
  ASSERT_NE(worker, nullptr);
  ASSERT_TRUE(std::holds_alternative<std::string>(worker->call(question(), -1, soon(), scope_, "asking")));
  ::kill(worker->pid(), SIGSEGV);
  const Answer answer = worker->call(question(), -1, soon(), scope_, "asking");
  ASSERT_TRUE(std::holds_alternative<Crashed>(answer));
  EXPECT_EQ(std::get<Crashed>(answer).how, "SIGSEGV");
  EXPECT_FALSE(worker->alive());
  EXPECT_TRUE(std::holds_alternative<Crashed>(worker->call(question(), -1, soon(), scope_, "asking")));
  worker = spawn(ONELAUNCH_WORKER_PATH);
  EXPECT_TRUE(std::holds_alternative<std::string>(worker->call(question(), -1, soon(), scope_, "asking")));
}

TEST_F(Workers, ThatExitAreReportedWithTheirCode) {
  const auto worker = spawn(script("exit 3"));
  ASSERT_NE(worker, nullptr);
  const Answer answer = worker->listen(soon(), scope_, "starting");
  ASSERT_TRUE(std::holds_alternative<Crashed>(answer));
  EXPECT_EQ(std::get<Crashed>(answer).how, "exit 3");
}

TEST_F(Workers, ThatDoNotAnswerInTimeAreKilled) {
  const auto worker = spawn(script("exec sleep 1000"));
  ASSERT_NE(worker, nullptr);
  const pid_t pid = worker->pid();
  const Answer answer = worker->call("?", -1, Deadline{clock_.now()}, scope_, "the launch");
  ASSERT_TRUE(std::holds_alternative<TimedOut>(answer));
  EXPECT_EQ(std::get<TimedOut>(answer).what, "the launch");
  EXPECT_FALSE(worker->alive());
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Workers, ThatTalkNonsenseAreKilled) {
  const auto worker = spawn(script("printf 'HTTP/1.1 200 OK and some more text' >&3; exec sleep 1000"));
  ASSERT_NE(worker, nullptr);
  const Answer answer = worker->listen(soon(), scope_, "starting");
  ASSERT_TRUE(std::holds_alternative<Crashed>(answer));
  EXPECT_NE(std::get<Crashed>(answer).how.find("makes no sense"), std::string::npos);
  EXPECT_FALSE(worker->alive());
}

TEST_F(Workers, AreLetGoWhenTheWorkIsInterrupted) {
  const auto worker = spawn(script("exec sleep 1000"));
  ASSERT_NE(worker, nullptr);
  std::thread other([this] { interrupts_.raise(); });
  const Answer answer = worker->call("?", -1, soon(), scope_, "the launch");
  other.join();
  EXPECT_TRUE(std::holds_alternative<Interrupted>(answer));
}

TEST_F(Workers, ThatCannotBeStartedAreAnErrorOfOurs) {
  const auto worker = WorkerProcess::spawn({"/nonexistent/onelaunch-worker", "emu"}, clock_);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().kind, Error::Kind::unavailable);
  EXPECT_NE(worker.error().message.find("/nonexistent/onelaunch-worker"), std::string::npos);
}

TEST_F(Workers, LoadNoPartOfCudaUnlessTheyCompile) {
  const auto worker = spawn(ONELAUNCH_WORKER_PATH);
  ASSERT_NE(worker, nullptr);
  ASSERT_TRUE(std::holds_alternative<std::string>(worker->call(question(), -1, soon(), scope_, "asking")));
  std::ifstream maps("/proc/" + std::to_string(worker->pid()) + "/maps");
  const std::string mapped((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  EXPECT_NE(mapped.find("onelaunch-worker"), std::string::npos);
  EXPECT_EQ(mapped.find("libnvrtc"), std::string::npos);
  EXPECT_EQ(mapped.find("libcuda"), std::string::npos);
}

TEST_F(Workers, InheritNoDescriptorsOfOurs) {
  const auto worker = spawn(script("ls /proc/self/fd | tr '\\n' ' ' > " + (folder_.path / "fds").string() + "; exit 0"));
  ASSERT_NE(worker, nullptr);
  ASSERT_TRUE(std::holds_alternative<Crashed>(worker->listen(soon(), scope_, "starting")));
  std::string fds;
  std::getline(std::ifstream(folder_.path / "fds"), fds);
  // ls itself has 0, 1, 2, the socket and the folder that it lists.
  EXPECT_EQ(fds, "0 1 2 3 4 ");
}

}  // namespace
}  // namespace onelaunch::sandbox
