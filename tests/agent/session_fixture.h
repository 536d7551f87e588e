#pragma once
// Everything around one session, with a fake of each port.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "agent/loop/session.h"
#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_sandbox.h"
#include "tests/fakes/scripted_agent.h"
#include "traces/reader.h"

namespace onelaunch::agent {

inline constexpr const char* kSeed = "OL_TUNABLE(A, 0, 0, 1, 2, 3)\nmegakernel";

inline tasks::Task small_task() {
  tasks::Task task;
  task.name = "small";
  task.variant = "full";
  task.sha256 = std::string(64, 'a');
  return task;
}

struct SessionFixture : testing::Test {
  SessionFixture() {
    sandbox.script = [this](const sandbox::TunableValues& values) {
      const auto named = values.find("A");
      const auto known = behaviours.find(named == values.end() ? "0" : named->second);
      return known == behaviours.end() ? fakes::FakeSandbox::Behaviour{} : known->second;
    };
  }

  void propose(const std::string& value) { agent.proposals.push_back({.source = kSeed, .tunables = {{"A", value}}}); }

  SessionOptions options() const {
    SessionOptions all;
    all.wall = Seconds(wall_s);
    all.harness_version = "0.1.0";
    all.publish = folder.path() / "published";
    return all;
  }

  Result<SessionResult> run() {
    auto writer = traces::Writer::create(folder.path() / "run", clock);
    EXPECT_TRUE(writer) << writer.error().message;
    return Session(task, kSeed, {sandbox, clock, agent, observer, stop, *writer}, options()).run();
  }

  Result<SessionResult> resume() {
    Continuation continuation;
    continuation.state = folded();
    auto writer = traces::Writer::reopen(folder.path() / "run", clock);
    EXPECT_TRUE(writer) << writer.error().message;
    return Session(task, kSeed, {sandbox, clock, agent, observer, stop, *writer}, options(), continuation).run();
  }

  std::vector<traces::Record> records() const {
    std::vector<traces::Record> all;
    const auto read =
        traces::read_trace(folder.path() / "run", [&](const traces::Record& r) { return all.push_back(r), true; });
    EXPECT_TRUE(read) << read.error().message;
    return all;
  }

  traces::SessionState folded() const {
    traces::SessionState state;
    for (const traces::Record& record : records()) state.apply(record);
    return state;
  }

  template <class E>
  std::vector<E> events() const {
    std::vector<E> found;
    for (const traces::Record& record : records())
      if (const auto* event = std::get_if<E>(&record.event)) found.push_back(*event);
    return found;
  }

  std::string best_source() const { return read_file(folder.path() / "run/best/kernel.cu", 1 << 20).value_or(""); }

  TemporaryFolder folder;
  fakes::FakeClock clock;
  fakes::FakeSandbox sandbox{clock};
  fakes::ScriptedAgent agent;
  fakes::QuietObserver observer;
  StopRequest stop;
  tasks::Task task = small_task();
  std::map<std::string, fakes::FakeSandbox::Behaviour> behaviours;
  double wall_s = 120;
};

}  // namespace onelaunch::agent
