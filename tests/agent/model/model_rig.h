#pragma once
// A session whose agent is a scripted model, with a fake of everything around it.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/loop/session.h"
#include "agent/model/model_agent.h"
#include "base/files.h"
#include "tests/agent/session_fixture.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_sandbox.h"
#include "tests/fakes/scripted_chat.h"
#include "traces/reader.h"

namespace onelaunch::agent {

struct ModelRig {
  explicit ModelRig(std::filesystem::path run_folder) : run(std::move(run_folder)) {
    sandbox.script = [this](const sandbox::TunableValues& values) {
      const auto named = values.find("A");
      const auto known = behaviours.find(named == values.end() ? "0" : named->second);
      return known == behaviours.end() ? fakes::FakeSandbox::Behaviour{} : known->second;
    };
    options.agent = "compat:scripted-1@http://nowhere";
    options.provider = "compat";
    options.model = "scripted-1";
  }

  SessionOptions session_options() const {
    SessionOptions all;
    all.wall = Seconds(wall_s);
    all.harness_version = "0.1.0";
    all.budget_usd = options.budget.usd;
    all.budget_tokens = options.budget.tokens;
    all.prompt_sha256 = std::string(64, 'e');
    return all;
  }

  ModelAgent make_agent(std::vector<traces::Record> past) {
    const OpenChat scripted = [this](const ChatRequest& request) -> Result<std::unique_ptr<llm::Chat>> {
      log.output_limits.push_back(request.output_tokens_max);
      auto chat = std::make_unique<fakes::ScriptedChat>(script, log, clock);
      chat->before_send = before_send;
      chat->refuses_history = refuses_history;
      return chat;
    };
    return ModelAgent(options, open ? open : scripted, clock, watched ? *watched : observer, std::move(past));
  }

  Result<SessionResult> start() {
    auto writer = traces::Writer::create(run, clock);
    if (!writer) return because(writer.error());
    ModelAgent agent = make_agent({});
    return ran(agent, Session(task, kSeed, {sandbox, clock, agent, observer, stop, *writer}, session_options()));
  }

  Result<SessionResult> resume() {
    Continuation continuation;
    const std::vector<traces::Record> past = records();
    for (const traces::Record& record : past) continuation.state.apply(record);
    auto writer = traces::Writer::reopen(run, clock);
    if (!writer) return because(writer.error());
    ModelAgent agent = make_agent(past);
    return ran(agent, Session(task, kSeed, {sandbox, clock, agent, observer, stop, *writer}, session_options(), continuation));
  }

  Result<SessionResult> ran(ModelAgent& agent, Session session) {
    if (running) running(&agent);
    Result<SessionResult> result = session.run();
    if (running) running(nullptr);
    return result;
  }

  std::vector<traces::Record> records() const {
    std::vector<traces::Record> all;
    const auto read = traces::read_trace(run, [&](const traces::Record& r) { return all.push_back(r), true; });
    EXPECT_TRUE(read) << read.error().message;
    return all;
  }
  template <class E>
  std::vector<E> events() const {
    std::vector<E> found;
    for (const traces::Record& record : records())
      if (const auto* event = std::get_if<E>(&record.event)) found.push_back(*event);
    return found;
  }
  std::string blob(const std::string& sha256) const { return traces::read_blob(run, sha256).value_or("(lost)"); }
  std::string result_of(const std::string& tool, std::size_t nth = 0) const {
    for (const auto& result : events<traces::ToolResult>())
      if (result.name == tool && nth-- == 0) return blob(result.result_sha256);
    return "(none)";
  }

  std::filesystem::path run;
  fakes::FakeClock clock;
  fakes::FakeSandbox sandbox{clock};
  fakes::QuietObserver observer;
  StopRequest stop;
  tasks::Task task = small_task();
  std::map<std::string, fakes::FakeSandbox::Behaviour> behaviours;
  ModelOptions options;
  fakes::ChatLog log;
  fakes::ChatScript script;
  std::function<void(const std::function<void(const llm::Retry&)>&)> before_send;
  bool refuses_history = false;
  OpenChat open;                            // instead of scripted chats
  Observer* watched = nullptr;              // instead of the quiet one
  std::function<void(ModelAgent*)> running; // told of the agent before it runs, and of none after
  double wall_s = 3600;
};

}  // namespace onelaunch::agent
