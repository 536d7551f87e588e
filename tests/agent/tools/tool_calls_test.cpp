// Tool calls over a session's socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "agent/external/external_agent.h"
#include "agent/external/local_socket.h"
#include "agent/external/session_client.h"
#include "tests/agent/temporary_folder.h"
#include "tests/fakes/fake_workbench.h"
#include "traces/writer.h"

namespace onelaunch::agent {
namespace {

using testing::HasSubstr;

struct ToolCalls : testing::Test {
  ToolCalls() {
    bench.seed("OL_TUNABLE(A, 1, 1, 2)\nseed\n");
    auto writer = traces::Writer::create(run.path() / "r", fake_clock);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->append(traces::Note{.author = "test", .text = "begun"}));
    begin();
  }
  void begin() {
    agent.reset();
    auto made = ExternalAgent::listen(folder(), clock, stop);
    ASSERT_TRUE(made) << made.error().message;
    agent.emplace(std::move(*made));
    const auto begun = agent->begin({.task = "small", .workbench = &bench});
    ASSERT_TRUE(begun) << begun.error().message;
  }
  std::filesystem::path folder() const { return run.path() / "r"; }
  std::future<Result<ToolAnswer>> calling(const std::string& name, const std::string& arguments, const Cancelled& cancelled = {}) {
    return std::async(std::launch::async, [=, this] { return call_tool(folder(), name, arguments, cancelled); });
  }
  // Until a client has its answer.
  template <class T>
  T served(std::future<T>& client) {
    while (client.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      const auto proposal = agent->ask(Deadline::after(clock, Seconds(0.02)));
      EXPECT_TRUE(proposal && !*proposal);
    }
    return client.get();
  }
  ToolAnswer called(const std::string& name, const std::string& arguments) {
    auto client = calling(name, arguments);
    const auto answer = served(client);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(ToolAnswer{});
  }

  TemporaryFolder run;
  SystemClock clock;
  fakes::FakeClock fake_clock;
  StopRequest stop;
  fakes::FakeWorkbench bench{fake_clock};
  std::optional<ExternalAgent> agent;
};

TEST_F(ToolCalls, OfferToolsTaskAndInstructions) {
  auto client = std::async(std::launch::async, [&] { return ask_offer(folder()); });
  const auto offer = served(client);
  ASSERT_TRUE(offer) << offer.error().message;
  ASSERT_EQ(offer->tools.size(), all_tools().size());
  EXPECT_EQ(offer->tools[4].name, "compile");
  EXPECT_EQ(offer->tools[4].description, all_tools()[4].description);
  EXPECT_TRUE(offer->tools[4].slow);
  EXPECT_THAT(offer->task, HasSubstr("Computes y."));
  EXPECT_THAT(offer->instructions, HasSubstr("megakernel"));
}

TEST_F(ToolCalls, AreServedAndRecorded) {
  EXPECT_THAT(called("read_kernel", "{}").text, HasSubstr("2  seed"));
  EXPECT_FALSE(called("write_kernel", R"({"source":"mine"})").error);
  EXPECT_TRUE(called("write_kernel", R"({"source":7})").error);
  EXPECT_TRUE(called("nothing", "").error);
  EXPECT_TRUE(called("compile", "{\"defines\":[").error) << "what is no JSON is answered by the tool";
  const auto calls = bench.recorded<traces::ToolCall>();
  const auto results = bench.recorded<traces::ToolResult>();
  ASSERT_EQ(calls.size(), 5u);
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(calls[1].id, results[1].id);
  EXPECT_NE(calls[0].id, calls[1].id);
  EXPECT_EQ(bench.stored(calls[1].arguments_sha256).value_or(""), R"({"source":"mine"})");
  EXPECT_THAT(bench.stored(results[0].result_sha256).value_or(""), HasSubstr("seed"));
  EXPECT_EQ(results[0].state_sha256, "");
  EXPECT_THAT(bench.stored(results[1].state_sha256).value_or(""), HasSubstr("mine"));
}

TEST_F(ToolCalls, AnEvaluationIsAnsweredOnceItIsJudged) {
  called("write_kernel", R"({"source":"mine"})");
  auto client = calling("evaluate", R"({"note":"better","predict_us":50})");
  std::optional<Proposal> proposal;
  while (!proposal) {
    const auto asked = agent->ask(Deadline::after(clock, Seconds(1)));
    ASSERT_TRUE(asked);
    proposal = *asked;
  }
  EXPECT_EQ(proposal->source, "mine");
  EXPECT_EQ(proposal->note, "better");
  Report report{.proposal = *proposal, .verdict = Verdict::keep, .outcome = "passed"};
  report.us = 49, report.over_seed = 100.0 / 49;
  agent->tell(bench.judged(report));
  const auto answer = client.get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->text, HasSubstr("c1: KEPT"));
  EXPECT_THAT(answer->text, HasSubstr("best c1 49.00 us"));
  EXPECT_EQ(bench.recorded<traces::ToolResult>().size(), 2u);
}

TEST_F(ToolCalls, ASubmissionStillWorksBesideThem) {
  called("notes", R"({"text":"hello"})");
  auto client = std::async(std::launch::async, [&] { return submit(folder(), {.source = "theirs"}); });
  std::optional<Proposal> proposal;
  while (!proposal) proposal = agent->ask(Deadline::after(clock, Seconds(1))).value_or(std::nullopt);
  EXPECT_EQ(proposal->source, "theirs");
  agent->tell({.candidate = "c1", .proposal = *proposal, .verdict = Verdict::reject, .outcome = "wrong_answer"});
  const auto report = client.get();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->verdict, Verdict::reject);
}

TEST_F(ToolCalls, FinishEndsTheAgentWithItsReason) {
  auto client = calling("finish", R"({"reason":"all tried"})");
  const auto asked = agent->ask(Deadline::after(clock, Seconds(20)));
  ASSERT_TRUE(asked);
  EXPECT_FALSE(*asked);
  const auto answer = client.get();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->finished);
  ASSERT_TRUE(agent->ended());
  EXPECT_EQ(agent->ended()->reason, StopReason::finished);
  EXPECT_THAT(agent->ended()->why, HasSubstr("all tried"));
}

TEST_F(ToolCalls, AClientThatGoesAwayInterruptsItsCallAndNothingElse) {
  std::atomic<bool> compiling{false};
  bench.on_compile = [&](const Proposal&, Deadline) -> Result<sandbox::Compiled> {
    compiling = true;
    while (bench.interrupts == 0) std::this_thread::yield();
    return unavailable("it was cancelled");
  };
  auto client = calling("compile", "{}", [&] { return compiling.load(); });
  const auto answer = served(client);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("cancelled"));
  EXPECT_GT(bench.interrupts, 0);
  bench.on_compile = nullptr;
  EXPECT_FALSE(called("compile", "{}").error);
}

TEST_F(ToolCalls, ACallThatWasCancelledInLineIsNeverBegun) {
  auto connection = connect_in(folder());
  ASSERT_TRUE(connection);
  ASSERT_TRUE(send_all(connection->get(), print(ToolRequest{.name = "write_kernel", .arguments = R"({"source":"never"})"})));
  connection->reset();
  EXPECT_THAT(called("read_kernel", "{}").text, HasSubstr("seed"));
  EXPECT_EQ(bench.recorded<traces::ToolCall>().size(), 1u);
}

TEST_F(ToolCalls, NonsenseIsAnswered) {
  for (const char* text : {R"({"tool":"compile"})", R"({"v":"onelaunch.tools/2","tools":true})", R"({"v":"onelaunch.tools/1","tool":7})"}) {
    auto client = std::async(std::launch::async, [&]() -> Result<ToolAnswer> {
      auto connection = connect_in(folder());
      if (!connection) return because(connection.error());
      if (auto sent = send_all(connection->get(), text); !sent) return because(sent.error());
      return receive_all(connection->get(), 1 << 16, Seconds(20)).and_then([](const std::string& reply) { return parse_tool_answer(reply); });
    });
    const auto answer = served(client);
    ASSERT_TRUE(answer) << text << ": " << answer.error().message;
    EXPECT_TRUE(answer->error) << text;
  }
}

TEST_F(ToolCalls, ASessionWithoutAWorkbenchSaysSo) {
  ASSERT_TRUE(agent->begin({.task = "small"}));
  agent.reset();
  auto made = ExternalAgent::listen(folder(), clock, stop);
  ASSERT_TRUE(made);
  agent.emplace(std::move(*made));
  EXPECT_THAT(called("compile", "{}").text, HasSubstr("no tools"));
}

TEST_F(ToolCalls, CandidateFileAndNotesSurviveAKill) {
  called("write_kernel", R"({"source":"mine"})");
  called("notes", R"({"text":"remember"})");
  auto writer = traces::Writer::reopen(folder(), fake_clock);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const traces::ToolResult& result : bench.recorded<traces::ToolResult>()) ASSERT_TRUE(writer->append(result));
  begin();
  EXPECT_THAT(called("read_kernel", "{}").text, HasSubstr("mine"));
  EXPECT_THAT(called("notes", "{}").text, HasSubstr("remember"));
}

TEST(ToolMessages, SurviveTheWay) {
  const auto request = parse_tool_request(print(ToolRequest{.name = "compile", .arguments = R"({"defines":["A=1"]})"}));
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<ToolRequest>(*request).arguments, R"({"defines":["A=1"]})");
  ASSERT_TRUE(parse_tool_request(print(OfferRequest{})));
  const auto answer = parse_tool_answer(print(ToolAnswer{.text = "broken \xff text", .error = true, .finished = true}));
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->error && answer->finished);
  EXPECT_THAT(answer->text, HasSubstr("broken"));
  EXPECT_FALSE(parse_tool_answer("{}"));
  EXPECT_FALSE(parse_offer(print(ToolAnswer{.text = "no offer"})));
  EXPECT_FALSE(is_tool_message("{\"v\":\"onelaunch.submit/1\",\"source\":\"x\"}"));
  EXPECT_FALSE(is_tool_message("nonsense"));
}

}  // namespace
}  // namespace onelaunch::agent
