#include "agent/mcp/server.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace onelaunch::agent::mcp {
namespace {

using nlohmann::json;

// Answers "echo" calls at once with their arguments; holds `compile` until it is released or cancelled.
class FakeHost final : public ToolHost {
 public:
  Result<Offer> offer(const Cancelled&) override { return Offer{.instructions = "how", .task = "what", .tools = {}}; }
  Result<ToolAnswer> call(const std::string& tool, const std::string& arguments, const Cancelled& cancelled) override {
    if (tool == "notes") return unavailable("it has ended");
    if (tool != "compile") return ToolAnswer{.text = tool + arguments};
    std::unique_lock lock(mutex_);
    while (!released_ && !cancelled()) changed_.wait_for(lock, std::chrono::milliseconds(1));
    if (!released_) ++cancelled_;
    changed_.notify_all();
    return ToolAnswer{.text = "compiled"};
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  void wait_for_cancellation() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return cancelled_ > 0; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  int cancelled_ = 0;
};

class ServerTest : public testing::Test {
 protected:
  void open(Seconds patience, Seconds between) {
    server.emplace(host, [this](const std::string& line) { keep(line); }, ServerOptions{.version = "1", .patience = patience, .between = between});
  }
  void keep(const std::string& line) {
    const std::lock_guard lock(mutex);
    sent.push_back(json::parse(line));
    changed.notify_all();
  }
  // The answer to a request; null when none came in good time.
  json answer(const json& id) {
    std::unique_lock lock(mutex);
    json found;
    changed.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const json& message : sent)
        if (message.contains("id") && message["id"] == id) found = message;
      return !found.is_null();
    });
    return found;
  }
  void call(const json& id, const std::string& tool, const json& arguments = json::object(), const json& meta = json::object()) {
    server->receive(json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"},
                         {"params", {{"name", tool}, {"arguments", arguments}, {"_meta", meta}}}}
                        .dump());
  }
  void cancel(const json& id) {
    server->receive(json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}.dump());
  }
  std::string text(const json& message) { return message["result"]["content"][0]["text"].get<std::string>(); }

  FakeHost host;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<json> sent;
  std::optional<Server> server;  // last: its threads use the others
};

TEST_F(ServerTest, OpensInTheInitializedEra) {
  open(Seconds(20), Seconds(20));
  server->receive(R"({"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0})");
  server->receive(R"({"method":"notifications/initialized","jsonrpc":"2.0"})");
  server->receive(R"({"method":"ping","jsonrpc":"2.0","id":"p"})");
  server->receive(R"({"method":"tools/list","jsonrpc":"2.0","id":1})");
  server->receive("  \r");
  ASSERT_EQ(sent.size(), 3u) << "a notification or an empty line was answered";
  EXPECT_EQ(answer(0)["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answer("p")["result"], json::object());
  std::set<std::string> names;
  const json listed = answer(1);
  for (const json& tool : listed["result"]["tools"]) names.insert(tool["name"]);
  for (const char* name : {"briefing", "evaluate", "finish", "wait_for_job"}) EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(ServerTest, ServesTheStatelessEraWithoutAnOpening) {
  open(Seconds(20), Seconds(20));
  const json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}, {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  server->receive(json{{"jsonrpc", "2.0"}, {"id", "d"}, {"method", "server/discover"}, {"params", {{"_meta", meta}}}}.dump());
  EXPECT_EQ(answer("d")["result"]["supportedVersions"], json::array({"2026-07-28"}));
  call(1, "task", {{"section", "rules"}}, meta);
  EXPECT_EQ(text(answer(1)), "task{\"section\":\"rules\"}");
  EXPECT_EQ(answer(1)["result"]["resultType"], "complete");
  server->receive(json{{"jsonrpc", "2.0"}, {"id", 2}, {"method", "ping"}, {"params", {{"_meta", meta}}}}.dump());
  EXPECT_EQ(answer(2)["error"]["code"], -32601) << "this era has no ping";
}

TEST_F(ServerTest, AnswersUnknownMethodsAndTools) {
  open(Seconds(20), Seconds(20));
  server->receive(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})");
  EXPECT_EQ(answer(1)["error"]["code"], -32601);
  call(2, "rm");
  EXPECT_EQ(answer(2)["result"]["isError"], true);
  EXPECT_NE(text(answer(2)).find("evaluate"), std::string::npos) << "says which tools there are";
  call(3, "notes");
  EXPECT_EQ(answer(3)["result"]["isError"], true) << "the session has ended";
}

TEST_F(ServerTest, BriefsWithTheInstructionsAndTheTask) {
  open(Seconds(20), Seconds(20));
  call(1, "briefing");
  EXPECT_EQ(text(answer(1)), "how\n\nwhat");
}

TEST_F(ServerTest, AnswersALongCallWithAJobThatCanBeWaitedFor) {
  open(Seconds(0.02), Seconds(0.01));
  call(1, "compile");
  EXPECT_NE(text(answer(1)).find("job1"), std::string::npos);
  EXPECT_EQ(answer(1)["result"]["isError"], false);
  call(2, "wait_for_job", {{"job", "job1"}, {"seconds", 0}});
  EXPECT_NE(text(answer(2)).find("still running"), std::string::npos);
  host.release();
  for (int id = 3; id < 2000; ++id) {
    call(id, "wait_for_job", {{"job", "job1"}});
    if (text(answer(id)) == "compiled") return;
  }
  FAIL() << "the job never ended";
}

TEST_F(ServerTest, SaysSoWhenThereIsNoSuchJob) {
  open(Seconds(20), Seconds(20));
  call(1, "wait_for_job", {{"job", "job9"}});
  EXPECT_EQ(answer(1)["result"]["isError"], true);
  call(2, "wait_for_job");
  EXPECT_EQ(answer(2)["result"]["isError"], true);
}

TEST_F(ServerTest, ProgressRisesUntilTheAnswerAndNeverAfterIt) {
  open(Seconds(0.05), Seconds(0.001));
  call(1, "compile", json::object(), {{"progressToken", "t"}});
  ASSERT_FALSE(answer(1).is_null());
  host.release();
  server->end();
  int last = 0;
  bool answered = false;
  for (const json& message : sent) {
    if (message.contains("id")) answered = true;
    if (message.value("method", "") != "notifications/progress") continue;
    EXPECT_FALSE(answered);
    EXPECT_EQ(message["params"]["progressToken"], "t");
    EXPECT_GT(message["params"]["progress"].get<int>(), last);
    last = message["params"]["progress"].get<int>();
  }
  EXPECT_GT(last, 0);
}

TEST_F(ServerTest, ACancelledCallStopsTheWorkAndIsNotAnswered) {
  open(Seconds(20), Seconds(20));
  call(5, "compile");
  cancel(5);
  cancel(99);  // long answered, or never asked
  host.wait_for_cancellation();
  server->end();
  EXPECT_TRUE(sent.empty()) << sent.front();
}

TEST_F(ServerTest, CancellingAWaitLeavesTheJobAlone) {
  open(Seconds(0.01), Seconds(20));
  call(1, "compile");
  ASSERT_FALSE(answer(1).is_null());
  call(2, "wait_for_job", {{"job", "job1"}});
  cancel(2);
  host.release();
  for (int id = 3; id < 2000; ++id) {
    call(id, "wait_for_job", {{"job", "job1"}});
    if (text(answer(id)) == "compiled") return;
  }
  FAIL() << "the job was cancelled";
}

TEST_F(ServerTest, AJobIsGivenUpOnDemand) {
  open(Seconds(0.01), Seconds(20));
  call(1, "compile");
  ASSERT_FALSE(answer(1).is_null());
  call(2, "wait_for_job", {{"job", "job1"}, {"cancel", true}});
  ASSERT_FALSE(answer(2).is_null());
  host.wait_for_cancellation();
}

TEST_F(ServerTest, AnIdIsTakenUntilItsRequestIsAnswered) {
  open(Seconds(20), Seconds(20));
  call(1, "compile");
  call(1, "task");
  EXPECT_EQ(answer(1)["error"]["code"], -32600);
}

TEST_F(ServerTest, EndsWithCallsStillRunning) {
  open(Seconds(20), Seconds(20));
  for (int id = 0; id < 8; ++id) call(id, "compile");
  server->end();
  EXPECT_TRUE(sent.empty());
}

}  // namespace
}  // namespace onelaunch::agent::mcp
