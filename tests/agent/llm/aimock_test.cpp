// The model providers against a mock server that was written elsewhere. AIMOCK_ROOT names a folder in which
// "npm install --ignore-scripts @copilotkit/aimock" was run; without it these tests are skipped.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/unique_fd.h"
#include "tests/agent/llm/chat_fixture.h"
#include "tests/agent/temporary_folder.h"

extern char** environ;

namespace onelaunch::llm {
namespace {

// The first that fits is taken: what follows a call stands before the call.
constexpr const char* kFixtures = R"({"fixtures":[
  {"match":{"toolCallId":"call_two"},"response":{"content":"Both are done."}},
  {"match":{"userMessage":"fast","hasToolResult":true},"response":{"content":"Both are done."}},
  {"match":{"userMessage":"fast"},"response":{"reasoning":"Größere Kacheln? 核 🚀","content":"Let me compile.",
    "toolCalls":[{"id":"call_one","name":"compile","arguments":{"source":"a \"b\"\né"}},
                 {"id":"call_two","name":"evaluate","arguments":{}}],
    "usage":{"input_tokens":1200,"output_tokens":85}}},
  {"match":{"userMessage":"cut"},"response":{"content":"This will be cut somewhere in the middle of the text."},
   "latency":5,"chunkSize":5,"truncateAfterChunks":3},
  {"match":{"userMessage":"busy","sequenceIndex":0},"response":{"error":{"message":"Overloaded","type":"overloaded_error"},"status":529}},
  {"match":{"userMessage":"busy"},"response":{"content":"Now."}},
  {"match":{"userMessage":"key"},"response":{"error":{"message":"no such key","type":"authentication_error"},"status":401}},
  {"match":{"userMessage":"chaos"},"response":{"content":"Order."}}
]})";

int free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

bool is_listening(int port) {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

class Mock {
 public:
  Mock(const std::string& program, const std::vector<std::string>& flags) : port_(free_port()) {
    const std::string fixtures = (folder_.path() / "fixtures.json").string();
    std::ofstream(fixtures) << kFixtures;
    std::vector<std::string> words = {
        "node", program, "-p", std::to_string(port_), "-f", fixtures, "--validate-on-load", "--log-level", "silent"};
    words.insert(words.end(), flags.begin(), flags.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::posix_spawnp(&pid_, "node", nullptr, nullptr, arguments.data(), environ) != 0) pid_ = 0;
    for (int i = 0; i < 400 && pid_ && !is_listening(port_); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  ~Mock() {
    if (!pid_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  TemporaryFolder folder_;
  int port_;
  pid_t pid_ = 0;
};

class ThirdPartyMock : public testing::TestWithParam<Api> {
 protected:
  void SetUp() override {
    const char* root = std::getenv("AIMOCK_ROOT");
    program_ = (std::filesystem::path(root ? root : "") / "node_modules/@copilotkit/aimock/dist/cli.js").string();
    if (!root || !std::filesystem::exists(program_)) GTEST_SKIP() << "AIMOCK_ROOT names no folder with the mock server";
  }
  SystemClock clock_;
  std::string program_;
};
INSTANTIATE_TEST_SUITE_P(Providers, ThirdPartyMock, testing::ValuesIn(kApis), test_name);

TEST_P(ThirdPartyMock, HoldsAConversationWithTools) {
  Mock mock(program_, {});
  const auto chat = open(GetParam(), mock.url(), clock_);
  chat->say("Make it fast.");
  const Reply first = reply_to(*chat, clock_);
  EXPECT_EQ(first.ending, Ending::tool_calls);
  EXPECT_EQ(first.text, "Let me compile.");
  EXPECT_EQ(first.reasoning, "Größere Kacheln? 核 🚀");
  ASSERT_EQ(first.calls.size(), 2u);
  EXPECT_EQ(first.calls[0].name, "compile");
  EXPECT_EQ(first.calls[0].arguments, R"({"source":"a \"b\"\né"})");
  EXPECT_EQ(first.calls[1].arguments, "{}");
  EXPECT_EQ(first.usage.input, 1200u);
  EXPECT_EQ(first.usage.output, 85u);
  const std::string before = chat->next_request();
  chat->answer({{first.calls[0].id, "fine"}, {first.calls[1].id, "7.5 us"}}, "");
  const Reply second = reply_to(*chat, clock_);
  EXPECT_EQ(second.ending, Ending::finished);
  EXPECT_EQ(second.text, "Both are done.");
  EXPECT_TRUE(chat->next_request().starts_with(before.substr(0, before.size() - 2)));
}

TEST_P(ThirdPartyMock, IsTriedAgainWhenBusy) {
  Mock mock(program_, {});
  const auto chat = open(GetParam(), mock.url(), clock_);
  chat->say("busy?");
  std::vector<std::string> why;
  const auto reply = chat->send(soon(clock_), [&](const Retry& retry) { why.push_back(retry.why); });
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "Now.");
  ASSERT_EQ(why.size(), 1u);
  EXPECT_NE(why[0].find("529"), std::string::npos) << why[0];
}

TEST_P(ThirdPartyMock, NeverPassesACutStreamOffAsAReply) {
  Mock mock(program_, {});
  ChatOptions options = quick_options();
  options.limits.retries_max = 2;
  const auto chat = open(GetParam(), mock.url(), clock_, options);
  chat->say("cut");
  EXPECT_EQ(failure_of(*chat, clock_).kind, CallFailure::Kind::outage);
}

TEST_P(ThirdPartyMock, TellsAWrongKey) {
  Mock mock(program_, {});
  const auto chat = open(GetParam(), mock.url(), clock_);
  chat->say("key?");
  const CallFailure failure = failure_of(*chat, clock_);
  EXPECT_EQ(failure.kind, CallFailure::Kind::authentication);
  EXPECT_NE(failure.what.find("no such key"), std::string::npos) << failure.what;
}

TEST_P(ThirdPartyMock, IsOutlastedWhenItMisbehaves) {
  Mock mock(program_, {"--chaos-drop", "0.2", "--chaos-disconnect", "0.2", "--chaos-malformed", "0.2"});
  ChatOptions options = quick_options();
  options.limits.retries_max_unconnected = 100;
  options.limits.retries_max_malformed = 100;
  const auto chat = open(GetParam(), mock.url(), clock_, options);
  for (int turn = 0; turn < 10; ++turn) {
    chat->say("chaos");
    EXPECT_EQ(reply_to(*chat, clock_).text, "Order.");
  }
}

}  // namespace
}  // namespace onelaunch::llm
