#include "traces/fold.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/card.h"

namespace onelaunch::traces {
namespace {

class FoldTest : public RunFixture {};

SessionState folded(const std::vector<Event>& events) {
  SessionState state;
  double t = 0;
  for (const Event& event : events) state.apply({.seq = 0, .t = t += 0.5, .ts = "", .prev = "", .event = event});
  return state;
}

SessionState read_state(const std::filesystem::path& run) {
  SessionState state;
  for (const Record& record : records_of(run)) state.apply(record);
  return state;
}

std::vector<Event> session(SessionShape shape = {}) { return small_session(shape, some_hash('1'), some_hash('2')); }

TEST_F(FoldTest, TellsHowASessionStands) {
  const SessionState state = folded(session());
  EXPECT_EQ(state.start->task, "rmsnorm_linear");
  EXPECT_EQ(state.attempts.size(), 4u);
  EXPECT_EQ(state.best, "c2");
  EXPECT_EQ(state.best_us, 80);
  EXPECT_EQ(state.seed_us, 100);
  EXPECT_EQ(state.decisions, 3) << "the seed is no attempt";
  EXPECT_EQ(state.kept, 1);
  EXPECT_EQ(state.infra_errors, 1);
  EXPECT_EQ(state.kind(), "modelled");
  EXPECT_TRUE(state.verified());
  EXPECT_EQ(state.baseline()->name, "eager");
  EXPECT_EQ(state.find("c1")->gates.front().tensor, "y");
  EXPECT_EQ(state.find("c9"), nullptr);
  EXPECT_EQ(state.times_of("c2").at(96).us_median, 80);
}

// What a resumed session knows is what the killed one knew, wherever it was killed.
TEST_F(FoldTest, GivesTheSameStateInOneLegOrTwoWhereverItIsCut) {
  const std::vector<Event> events = session();
  const std::string whole = card_json(folded(events), "c2", "run");
  for (std::size_t cut = 1; cut < events.size(); ++cut) {
    const auto middle = events.begin() + static_cast<std::ptrdiff_t>(cut);
    const auto run = write_run("cut" + std::to_string(cut), {events.begin(), middle});
    const SessionState before = folded({events.begin(), middle}), after = read_state(run);
    EXPECT_EQ(before.best, after.best);
    EXPECT_EQ(before.best_us, after.best_us);
    EXPECT_EQ(before.decisions, after.decisions);
    append_to(run, {middle, events.end()});
    const SessionState state = read_state(run);
    EXPECT_EQ(state.attempts.size(), 4u);
    EXPECT_EQ(state.kept, 1);
    nlohmann::json a = nlohmann::json::parse(whole), b = nlohmann::json::parse(card_json(state, "c2", "run"));
    a.erase("from"), b.erase("from");  // seq, which folded() does not number
    EXPECT_EQ(a, b) << cut;
  }
}

TEST_F(FoldTest, KeepsNumbersWhenTheSameDeviceGoesOn) {
  std::vector<Event> events = session();
  events.push_back(Resume{.previous_uuid = "emu-1", .uuid = "emu-1", .spent_s = 10});
  const SessionState state = folded(events);
  EXPECT_EQ(state.legs, 2);
  EXPECT_EQ(state.best_us, 80);
  EXPECT_FALSE(state.end) << "the session runs again";
  EXPECT_FALSE(state.verified()) << "and must be re-graded again";
}

TEST_F(FoldTest, ForgetsNumbersOfAnotherDeviceUntilTheyAreMeasuredAnew) {
  std::vector<Event> events = session();
  events.push_back(Resume{.previous_uuid = "emu-1", .uuid = "emu-2", .spent_s = 10});
  SessionState state = folded(events);
  EXPECT_EQ(state.best, "c2") << "the incumbent stays";
  EXPECT_FALSE(state.best_us);
  EXPECT_FALSE(state.seed_us);
  EXPECT_FALSE(state.ceilings);
  EXPECT_TRUE(state.baselines.empty());
  for (const char* id : {"c0", "c2"})
    for (const std::int64_t context : {32, 96})
      events.push_back(Measurement{.candidate = id, .kind = "modelled", .context = context,
                                   .us_median = id[1] == '0' ? 50.0 : 40.0, .raw = {}, .phases = {}});
  state = folded(events);
  EXPECT_NEAR(state.seed_us.value(), 50, 1e-9);
  EXPECT_NEAR(state.best_us.value(), 40, 1e-9);
}

TEST_F(FoldTest, DoesNotLetALaterMeasurementOfTheIncumbentMoveItsScore) {
  std::vector<Event> events = session();
  events.push_back(Measurement{.candidate = "c2", .kind = "modelled", .context = 32, .us_median = 1, .raw = {}, .phases = {}});
  EXPECT_EQ(folded(events).best_us, 80);
}

TEST_F(FoldTest, KeepsOtherTimingsOutOfTheScore) {
  std::vector<Event> events = session();
  events.push_back(Measurement{.candidate = "c2", .kind = "modelled", .context = 32, .us_median = 1, .raw = {}, .phases = {}, .timing = "cold_l2"});
  EXPECT_EQ(folded(events).times_of("c2").at(32).us_median, 80);
}

TEST_F(FoldTest, IsNotVerifiedByAReGradeOfAnotherOrAFailedOne) {
  std::vector<Event> events = session({.regraded = false});
  EXPECT_FALSE(folded(events).verified());
  events.push_back(Regrade{.candidate = "c0", .outcome = "passed", .kind = "modelled", .times = {}});
  EXPECT_FALSE(folded(events).verified());
  events.push_back(Regrade{.candidate = "c2", .outcome = "wrong_answer", .kind = "modelled", .times = {}});
  EXPECT_FALSE(folded(events).verified());
}

TEST_F(FoldTest, PrefersTheStrongestBaselineUnlessTheSessionNamedOne) {
  std::vector<Event> events = session({.finished = false});
  events.push_back(Baseline{.name = "torch-compile", .kind = "modelled", .times = {}});
  EXPECT_EQ(folded(events).baseline()->name, "torch-compile");
  events.push_back(SessionEnd{.reason = "cap", .detail = "", .best = "c2", .baseline = "eager", .attribution_s = {}});
  EXPECT_EQ(folded(events).baseline()->name, "eager");
}

TEST_F(FoldTest, ScoreIsTheGeometricMean) {
  EXPECT_NEAR(score_of(std::vector<ContextTime>{{.us_median = 20}, {.us_median = 80}}).value(), 40, 1e-12);
  EXPECT_FALSE(score_of(std::vector<ContextTime>{}));
  EXPECT_FALSE(score_of(std::vector<ContextTime>{{.us_median = 20}, {.us_median = 0}}));
}

TEST_F(FoldTest, PassesOverEventsOfUnknownCandidates) {
  const SessionState state = folded({Compile{.candidate = "c9", .log = "", .ptx_sha256 = "", .cubin_sha256 = ""},
                                     Decision{.candidate = "c9", .verdict = "keep", .outcome = "passed", .incumbent = "", .reason = ""}});
  EXPECT_EQ(state.decisions, 0);
  EXPECT_TRUE(state.attempts.empty());
}

TEST_F(FoldTest, CardSaysWhatTheKernelIsAndWhereItCameFrom) {
  const auto run = write_run("run", session());
  const auto card = nlohmann::json::parse(card_json(read_state(run), "c2", "run"));
  EXPECT_EQ(card["format"], "onelaunch.card/1");
  EXPECT_EQ(card["task"], "rmsnorm_linear");
  EXPECT_EQ(card["variant"], "tiny");
  EXPECT_EQ(card["source_sha256"], some_hash('2'));
  EXPECT_EQ(card["tunables"]["SPLIT"], "4");
  EXPECT_EQ(card["verdict"], "keep");
  EXPECT_EQ(card["kind"], "modelled");
  EXPECT_NEAR(card["us"].get<double>(), 80, 1e-9);
  EXPECT_NEAR(card["over_seed"].get<double>(), 1.25, 1e-9);
  EXPECT_NEAR(card["over_baseline"]["eager"].get<double>(), 10, 1e-9);
  EXPECT_EQ(card["us_by_context"]["96"]["us_median"], 80);
  EXPECT_EQ(card["device"]["name"], "emu H200");
  EXPECT_EQ(card["from"]["run"], "run");
  const std::vector<Record> records = records_of(run);
  EXPECT_EQ(std::get<Candidate>(records[card["from"]["seq"].get<std::size_t>()].event).id, "c2");
  EXPECT_EQ(card["verified"], true);
}

}  // namespace
}  // namespace onelaunch::traces
