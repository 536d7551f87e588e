// Sessions over real HTTP to providers that fail in every way, again and again: each must end within its cap, with a trace
// that holds and its best kernel on disk.
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "agent/loop/best_kernel.h"
#include "tests/agent/model/memory_folder.h"
#include "tests/agent/model/model_rig.h"
#include "tests/agent/model/storm_provider.h"
#include "traces/verify.h"

namespace onelaunch::agent {
namespace {

constexpr int kFaultsWanted = 2000, kThreads = 8, kSessionsMax = 1000;

// Time goes on a little by itself, so that nothing waits for ever.
class Ticker {
 public:
  explicit Ticker(fakes::FakeClock& clock)
      : thread_([this, &clock] {
          while (!over_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            clock.advance(0.004);
          }
        }) {}
  ~Ticker() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

llm::ChatOptions chat_options(const ChatRequest& request, std::uint64_t seed) {
  llm::ChatOptions options;
  options.system = request.system;
  options.tools = request.tools;
  options.max_output_tokens = request.output_tokens_max;
  options.jitter_seed = seed;
  llm::CallLimits& limits = options.limits;
  limits.first_byte = limits.idle = Seconds(fakes::StormProvider::kSilence_s);
  limits.linger = Seconds(0.05);
  limits.backoff_first = limits.backoff_max = Seconds(0.004);
  limits.retries_max = 12;
  limits.event_bytes_max = 1u << 20;
  return options;
}

// One session, everything about it drawn from its seed.
class StormySession {
 public:
  StormySession(const std::filesystem::path& folder, std::uint64_t seed)
      : random_(seed), rig_(folder / ("run" + std::to_string(seed))), provider_(seed, rig_.clock, rig_.stop) {
    rig_.behaviours = {{"0", kernel(100)}, {"1", kernel(50 + below(60))}, {"2", kernel(50 + below(60))},
                       {"3", {.grade = sandbox::WrongAnswer{"y differs"}, .grade_s = 0.5}}};
    rig_.wall_s = 60 + below(400);
    rig_.options.provider = provider_.name(), rig_.options.model = provider_.model();
    rig_.options.agent = rig_.options.provider + ":" + rig_.options.model;
    rig_.options.context_window = 30'000 + 1000 * static_cast<std::uint64_t>(below(100));
    if (below(3) == 0) rig_.options.budget.tokens = 30'000 + 1000 * static_cast<std::uint64_t>(below(60));
    rig_.options.output_tokens_max = 4096;
    rig_.open = [this, seed](const ChatRequest& request) {
      return llm::open_chat({provider_.name(), provider_.model(), provider_.url()}, {fakes::StormProvider::kKey, false, provider_.url()},
                            chat_options(request, seed), rig_.clock);
    };
    rig_.running = [this](ModelAgent* agent) { provider_.stops(agent ? [agent] { agent->stop(); } : std::function<void()>()); };
  }

  void run() {
    const Ticker ticker(rig_.clock);
    check(rig_.start());
    if (below(5) != 0 || testing::Test::HasFailure()) return;
    rig_.wall_s += 200;  // more time for what has ended
    provider_.calm_down();
    check(rig_.resume());
  }
  const fakes::StormProvider& provider() const { return provider_; }
  const std::set<std::string>& reasons() const { return reasons_; }

 private:
  static fakes::FakeSandbox::Behaviour kernel(double us) { return {.us = us, .grade_s = 0.5}; }
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }

  void check(const Result<SessionResult>& result) {
    ASSERT_TRUE(result) << result.error().message;
    reasons_.insert(name_of(result->reason));
    const bool bad_request = result->detail.find("does not take the request") != std::string::npos;
    EXPECT_TRUE(result->reason != StopReason::error || bad_request) << result->detail;
    EXPECT_EQ(provider_.objections(), "");
    const auto verified = traces::verify_trace(rig_.run);
    ASSERT_TRUE(verified) << verified.error().message;
    EXPECT_TRUE(verified->ok()) << traces::describe(*verified);
    const std::vector<traces::Record> records = rig_.records();
    EXPECT_TRUE(std::holds_alternative<traces::SessionEnd>(records.back().event));
    EXPECT_LE(records.back().t, rig_.wall_s) << "ended by " << name_of(result->reason);
    EXPECT_EQ(calls_without_results(records), 0) << name_of(result->reason);
    check_best(*result);
    check_budget(records);
    check_secrecy();
  }

  // Only the last may be open: the session's end came first.
  static int calls_without_results(const std::vector<traces::Record>& records) {
    int open = 0, worst = 0;
    for (const traces::Record& record : records) {
      if (std::holds_alternative<traces::ToolCall>(record.event)) ++open;
      if (std::holds_alternative<traces::ToolResult>(record.event)) --open;
      if (std::holds_alternative<traces::ModelRequest>(record.event)) worst = std::max(worst, open), open = 0;
    }
    return worst;
  }

  void check_best(const SessionResult& result) {
    const auto best = read_file(rig_.run / "best/kernel.cu", 1 << 20);
    ASSERT_TRUE(best) << best.error().message;
    double us = 1e9;
    sandbox::TunableValues tunables;
    std::string source;
    for (const traces::Decision& decision : rig_.events<traces::Decision>())
      if (decision.verdict == "keep") us = std::min(us, decision.us.value_or(1e9));
    EXPECT_DOUBLE_EQ(result.best_us.value_or(0), us) << "the fastest that was kept";
    for (const traces::Candidate& candidate : rig_.events<traces::Candidate>())
      if (candidate.id == result.best) tunables = candidate.tunables, source = rig_.blob(candidate.source_sha256);
    EXPECT_EQ(*best, with_defaults(source, tunables));
  }

  void check_budget(const std::vector<traces::Record>& records) {
    if (!rig_.options.budget.tokens) return;
    std::uint64_t tokens = 0;
    for (const traces::Record& record : records)
      if (const auto* e = std::get_if<traces::ModelResponse>(&record.event))
        tokens += e->input_tokens + e->cache_read_tokens + e->cache_write_tokens + e->output_tokens;
    EXPECT_LE(tokens, *rig_.options.budget.tokens);
  }

  void check_secrecy() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(rig_.run)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::stringstream text;
      text << in.rdbuf();
      EXPECT_EQ(text.str().find(fakes::StormProvider::kKey), std::string::npos) << "the key is in " << entry.path();
    }
  }

  std::mt19937_64 random_;
  ModelRig rig_;
  fakes::StormProvider provider_;
  std::set<std::string> reasons_;
};

TEST(FaultStorm, EverySessionEndsInTimeWithAValidTraceAndItsBestKernel) {
  const MemoryFolder folder;
  std::atomic<int> faults{0}, sessions{0};
  std::mutex mutex;
  std::map<std::string, int> kinds;
  std::set<std::string> reasons;
  const auto work = [&] {
    while (faults < kFaultsWanted && sessions < kSessionsMax && !testing::Test::HasFailure()) {
      const auto seed = static_cast<std::uint64_t>(++sessions);
      SCOPED_TRACE("session " + std::to_string(seed));
      StormySession session(folder.path(), seed);
      session.run();
      const std::map<std::string, int> seen = session.provider().faults();
      const std::lock_guard lock(mutex);
      for (const auto& [kind, count] : seen) kinds[kind] += count, faults += count;
      reasons.insert(session.reasons().begin(), session.reasons().end());
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(faults, kFaultsWanted);
  std::string said = std::to_string(faults) + " faults in " + std::to_string(sessions) + " sessions:";
  for (const auto& [kind, count] : kinds) said += " " + kind + " " + std::to_string(count);
  std::printf("%s\n", said.c_str());
  EXPECT_GE(kinds.size(), 20u);
  for (const char* reason : {"cap", "finished", "budget", "quota", "authentication", "provider_outage", "model_refused"})
    EXPECT_TRUE(reasons.contains(reason)) << "no session ended by " << reason;
}

}  // namespace
}  // namespace onelaunch::agent
