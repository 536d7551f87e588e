// The real program, driven over its standard input and output through a session on the emulator.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/unique_fd.h"

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

class McpProgramTest : public testing::Test {
 protected:
  McpProgramTest() {
    char name[] = "/tmp/onelaunch-mcp-XXXXXX";
    folder = ::mkdtemp(name);
  }
  ~McpProgramTest() override {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder);
  }

  void start(std::vector<std::string> words) {
    int in[2], out[2];
    ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
    words.insert(words.begin(), ONELAUNCH_PATH);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = (folder / "log").string();
    pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT, 0600), 2);
      if (::chdir(folder.c_str()) == 0) ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_server.reset(in[1]);
    from_server.reset(out[0]);
  }
  void start_session() {
    start({"mcp", "rmsnorm_linear", "--variant", "tiny", "--device", "emu", "--wall", "100s", "--out", run().string(), "--publish",
           (folder / "best").string()});
  }
  void send(const json& message) {
    const std::string line = message.dump() + "\n";
    ASSERT_EQ(::write(to_server.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  // The next message; null at the end of the output.
  json receive() {
    char c = 0;
    std::string line;
    while (::read(from_server.get(), &c, 1) == 1) {
      if (c == '\n') return json::parse(line);
      line += c;
    }
    EXPECT_EQ(line, "") << "an unfinished line";
    return {};
  }
  json request(int id, const std::string& method, const json& params) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    json message = receive();
    while (!message.is_null() && message.value("id", -1) != id) message = receive();
    return message;
  }
  std::string call(int id, const std::string& tool, const json& arguments) {
    const json answer = request(id, "tools/call", {{"name", tool}, {"arguments", arguments}});
    if (!answer.contains("result")) return "no result: " + answer.dump();
    return answer["result"]["content"][0]["text"].get<std::string>();
  }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::filesystem::path run() const { return folder / "run"; }
  static std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path folder;
  pid_t pid = -1;
  UniqueFd to_server, from_server;
};

TEST_F(McpProgramTest, AWholeSessionIsDrivenOverStandardInputAndEndsWithIt) {
  start_session();
  const json opened = request(0, "initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", json::object()}});
  ASSERT_EQ(opened["result"]["protocolVersion"], "2025-11-25");
  send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  EXPECT_NE(call(1, "briefing", json::object()).find("RMSNorm"), std::string::npos);
  EXPECT_NE(call(2, "read_kernel", {{"from", 1}, {"to", 5}}).find("1"), std::string::npos);
  const std::string judged = call(3, "evaluate", {{"note", "wider blocks"}, {"defines", json::array({"BLOCK=256"})}});
  EXPECT_NE(judged.find("c1"), std::string::npos) << judged;
  to_server.reset();
  EXPECT_TRUE(receive().is_null()) << "something was sent after the end of the input";
  EXPECT_EQ(wait(), 0) << text_of(folder / "log");
  const std::string events = text_of(run() / "events.jsonl");
  EXPECT_NE(events.find("session_end"), std::string::npos) << text_of(folder / "log");
  EXPECT_NE(events.find("tool_call"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(run() / "best" / "kernel.cu"));
}

TEST_F(McpProgramTest, TheOpeningIsAnsweredWhileTheSessionStarts_AndSigtermEndsItCleanly) {
  start_session();
  const json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  EXPECT_EQ(request(0, "server/discover", {{"_meta", meta}})["result"]["supportedVersions"][0], "2026-07-28");
  const json status = request(1, "tools/call", {{"name", "history"}, {"arguments", json::object()}, {"_meta", meta}});
  EXPECT_EQ(status["result"]["isError"], false) << status;
  ::kill(pid, SIGTERM);
  EXPECT_EQ(wait(), 0) << text_of(folder / "log");
  EXPECT_NE(text_of(run() / "events.jsonl").find("session_end"), std::string::npos);
}

TEST_F(McpProgramTest, AClientThatOnlyLooksOpensNoSession) {
  start_session();
  EXPECT_FALSE(request(0, "tools/list", json::object())["result"]["tools"].empty());
  to_server.reset();
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(run()));
}

TEST_F(McpProgramTest, AFolderWithoutASessionIsAnErrorOfTheCallNotOfTheServer) {
  start({"mcp", "--session", (folder / "nothing").string()});
  EXPECT_EQ(request(0, "tools/list", json::object())["result"]["tools"].empty(), false);
  EXPECT_NE(call(1, "briefing", json::object()).find("not open"), std::string::npos);
  to_server.reset();
  EXPECT_EQ(wait(), 0);
}

}  // namespace
}  // namespace onelaunch::agent::mcp
