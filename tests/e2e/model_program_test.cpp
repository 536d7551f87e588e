// The real program with a language model that is a strict fake provider in this process, over real HTTP.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"
#include "tests/fakes/fake_http_server.h"
#include "tests/fakes/fake_model.h"
#include "traces/fold.h"
#include "traces/reader.h"
#include "traces/verify.h"

namespace onelaunch::e2e {
namespace {

using fakes::Answer;
using fakes::Api;
using fakes::FakeCall;
using fakes::FakeReply;
using fakes::HeardRequest;

constexpr const char* kKey = "sk-e2e-0815-never-on-disk";

int answers_so_far(const std::string& body) {
  int count = 0;
  for (std::size_t at = body.find("\"role\":\"assistant\""); at != std::string::npos; at = body.find("\"role\":\"assistant\"", at + 1))
    ++count;
  return count;
}

// A model at work: what it says depends on the conversation alone.
FakeReply at_work(const HeardRequest& request) {
  const int step = answers_so_far(request.body);
  const auto call = [&](int number, const char* name, const char* arguments) {
    return FakeCall{.id = "call_" + std::to_string(step) + "_" + std::to_string(number), .name = name, .arguments = arguments};
  };
  switch (step) {
    case 0:
      return {.text = "First a look.",
              .calls = {call(1, "read_kernel", R"({"from":1,"to":9})"), call(2, "notes", R"({"text":"four tunables"})")}};
    case 1:
      return {.calls = {call(1, "evaluate", R"({"note":"wider blocks","predict_us":20,"defines":["BLOCK=256","UNROLL=4"]})")}};
    case 2:
      return {.text = "Now in the source.",
              .calls = {call(1, "str_replace", R"({"old":"OL_TUNABLE(ROWS, 1,","new":"OL_TUNABLE(ROWS, 2,"})"),
                        call(2, "compile", "{}"), call(3, "emulate", R"({"schedules":1})"),
                        call(4, "evaluate", R"({"note":"two rows a warp"})")}};
    default:
      return {.calls = {call(1, "finish", R"({"reason":"good enough"})")}};
  }
}

struct ModelProgram : testing::Test {
  ModelProgram() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"}) ::unsetenv(name);
    ::setenv("ANTHROPIC_API_KEY", kKey, 1);
    EXPECT_TRUE(replace_file(path("key"), std::string(kKey) + "\n"));
  }
  std::string path(const std::string& name) const { return (folder.path() / name).string(); }
  std::vector<std::string> session(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"run", "rmsnorm_linear", "--variant", "tiny", "--device", "emu", "--wall", "5m",
                                      "--out", path("run"), "--publish", path("published")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), onelaunch_path());
    return words;
  }
  traces::SessionState folded() const {
    traces::SessionState state;
    const auto read = traces::read_trace(path("run"), [&](const traces::Record& r) { return state.apply(r), true; });
    EXPECT_TRUE(read) << read.error().message;
    return state;
  }
  void expect_sound() const {
    const auto report = traces::verify_trace(path("run"));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(report->ok()) << traces::describe(*report);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("run"))) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::stringstream text;
      text << in.rdbuf();
      EXPECT_EQ(text.str().find(kKey), std::string::npos) << "the key is in " << entry.path();
    }
  }
  TemporaryFolder folder;
};

TEST_F(ModelProgram, WorksASessionWithTheAnthropicApi) {
  fakes::FakeHttpServer server([](const HeardRequest& request) { return fakes::answer_with(Api::anthropic, at_work(request), request); });
  ::setenv("ANTHROPIC_BASE_URL", server.url().c_str(), 1);
  const Ended ended = onelaunch(session({"--agent", "anthropic:claude-opus-5-5", "--budget-usd", "10"}), folder.path().string());
  ASSERT_EQ(ended.code, 0) << ended.out;
  expect_sound();
  const traces::SessionState state = folded();
  ASSERT_TRUE(state.end);
  EXPECT_EQ(state.end->reason, "finished") << state.end->detail;
  EXPECT_EQ(state.decisions, 2);
  EXPECT_GE(state.kept, 1) << ended.out;
  EXPECT_TRUE(state.verified());
  EXPECT_TRUE(state.cost_told);
  EXPECT_EQ(state.start->budget_usd, 10);
  EXPECT_EQ(state.start->prompt_sha256.size(), 64u);
  EXPECT_EQ(ended.out.find(kKey), std::string::npos);
  const Ended view = onelaunch({"replay", path("run"), "--view"}, folder.path().string());
  EXPECT_EQ(view.code, 0) << view.out;
}

TEST_F(ModelProgram, GoesOnWithTheSameConversationAfterAKill) {
  std::atomic<bool> hang{true};
  fakes::FakeHttpServer server([&](const HeardRequest& request) {
    if (hang && answers_so_far(request.body) == 2) return Answer{.hang_first = true};
    return fakes::answer_with(Api::completions, at_work(request), request);
  });
  const std::string agent = "compat:some/model@" + server.url() + "/v1";
  {
    Program program(command(session({"--agent", agent, "--key-file", path("key")})), folder.path().string());
    ASSERT_TRUE(program.read_until("   1  ")) << program.output();
    while (server.heard().size() < 3) usleep(10'000);
    program.signal(SIGKILL);
    EXPECT_EQ(program.wait().code, 128 + SIGKILL);
  }
  hang = false;
  const std::string in_flight = server.last().body;
  const Ended resumed = onelaunch({"run", "--resume", path("run"), "--key-file", path("key"), "--publish", path("published")},
                                  folder.path().string());
  ASSERT_EQ(resumed.code, 0) << resumed.out;
  expect_sound();
  EXPECT_EQ(server.heard().at(3).body, in_flight) << "the call in flight is made again, byte for byte";
  const traces::SessionState state = folded();
  EXPECT_EQ(state.legs, 2);
  EXPECT_EQ(state.decisions, 2);
  ASSERT_TRUE(state.end);
  EXPECT_EQ(state.end->reason, "finished") << state.end->detail;
}

TEST_F(ModelProgram, EndsWithItsResultWhenItIsInterruptedDuringACall) {
  fakes::FakeHttpServer server([](const HeardRequest&) { return Answer{.hang_first = true}; });
  ::setenv("ANTHROPIC_BASE_URL", server.url().c_str(), 1);
  Program program(command(session({"--agent", "anthropic:claude-opus-5-5"})), folder.path().string());
  while (server.heard().empty() && program.read_until("\n")) {
  }
  while (server.heard().empty()) usleep(10'000);
  program.signal(SIGINT);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.out;
  EXPECT_NE(ended.out.find("interrupted"), std::string::npos);
  expect_sound();
}

TEST_F(ModelProgram, SaysInOneLineWhyAProviderEndedIt) {
  fakes::FakeHttpServer server([](const HeardRequest&) {
    return fakes::error_answer(Api::anthropic, 401, "authentication_error", std::string("invalid x-api-key ") + kKey);
  });
  ::setenv("ANTHROPIC_BASE_URL", server.url().c_str(), 1);
  const Ended ended = onelaunch(session({"--agent", "anthropic:claude-opus-5-5"}), folder.path().string());
  EXPECT_EQ(ended.code, 1) << ended.out;
  EXPECT_NE(ended.out.find("authentication: the provider does not take the key"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find(kKey), std::string::npos);
  expect_sound();
  EXPECT_EQ(folded().end->reason, "authentication");
}

TEST_F(ModelProgram, SaysWhichVariableHoldsTheKey) {
  ::unsetenv("ANTHROPIC_API_KEY");
  const Ended ended = onelaunch(session({"--agent", "anthropic:claude-opus-5-5"}), folder.path().string());
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.out.find("ANTHROPIC_API_KEY"), std::string::npos) << ended.out;
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

}  // namespace
}  // namespace onelaunch::e2e
