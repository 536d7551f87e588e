#include "traces/leaderboard.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LeaderboardTest : public RunFixture {
 protected:
  void add(const std::string& name, const SessionShape& shape) {
    write_run(name, small_session(shape, some_hash('1'), some_hash('2')));
  }
  Board board() { return make_board({folder_}).value(); }
  std::vector<std::string> agents() {
    std::vector<std::string> names;
    for (const BoardRow& row : board().rows) names.push_back(row.agent);
    return names;
  }
};

TEST_F(LeaderboardTest, SortsByTimeWithinAGroupAndRanks) {
  add("a", {.agent = "slow", .best_us = 90});
  add("b", {.agent = "fast", .best_us = 70});
  add("deep/er/c", {.agent = "middle", .best_us = 80});
  add("d", {.agent = "tied", .best_us = 80});
  EXPECT_EQ(agents(), (std::vector<std::string>{"fast", "middle", "tied", "slow"}));
  std::vector<int> ranks;
  for (const BoardRow& row : board().rows) ranks.push_back(row.rank);
  EXPECT_EQ(ranks, (std::vector<int>{1, 2, 2, 4}));
}

TEST_F(LeaderboardTest, NeverMixesModelledWithMeasuredNorTasksVariantsOrDevices) {
  add("a", {.agent = "a", .kind = "modelled", .best_us = 10});
  add("b", {.agent = "b", .kind = "measured", .best_us = 20});
  add("c", {.agent = "c", .variant = "", .best_us = 30});
  add("d", {.agent = "d", .task = "other", .best_us = 40});
  add("e", {.agent = "e", .device = "emu H100", .best_us = 50});
  const Board all = board();
  ASSERT_EQ(all.rows.size(), 5u);
  for (const BoardRow& row : all.rows) EXPECT_EQ(row.rank, 1) << row.agent << " is alone on its board";
  const std::string table = print_board(all, BoardFormat::table);
  EXPECT_THAT(table, HasSubstr("rmsnorm_linear (tiny) on emu H200, MODELLED times (emulator), not measured"));
  EXPECT_THAT(table, HasSubstr("rmsnorm_linear (tiny) on emu H200, measured times"));
}

TEST_F(LeaderboardTest, RowHoldsWhatTheSessionShowed) {
  add("a", {});
  const BoardRow row = board().rows.at(0);
  EXPECT_NEAR(row.us.value(), 80, 1e-9);
  EXPECT_NEAR(row.over_seed.value(), 1.25, 1e-9);
  EXPECT_NEAR(row.over_baseline.value(), 10, 1e-9);
  EXPECT_NEAR(row.floor_share.value(), 0.25, 1e-9);
  EXPECT_EQ(row.baseline, "eager");
  EXPECT_EQ(row.kept, 1);
  EXPECT_EQ(row.decisions, 3);
  EXPECT_GT(row.time_to_best_s, 0);
  EXPECT_LT(row.time_to_best_s, row.active_s);
  EXPECT_EQ(row.us_by_context.at(96), 80);
  EXPECT_EQ(row.run, (folder_ / "a").string());
}

TEST_F(LeaderboardTest, DoesNotCompareWithABaselineOfTheOtherKind) {
  std::vector<Event> events = small_session({.kind = "measured"}, some_hash('1'), some_hash('2'));
  for (Event& event : events)
    if (auto* baseline = std::get_if<Baseline>(&event)) baseline->kind = "modelled";
  write_run("a", events);
  EXPECT_FALSE(board().rows.at(0).over_baseline);
  EXPECT_TRUE(board().rows.at(0).over.empty());
}

TEST_F(LeaderboardTest, MarksAndDoesNotRankWhatIsUnfinishedUnverifiedOrWeaklyContained) {
  add("a", {.agent = "cut", .best_us = 10, .finished = false, .regraded = false});
  add("b", {.agent = "ungraded", .best_us = 20, .regraded = false});
  add("c", {.agent = "weak", .containment = "weak", .best_us = 30});
  add("d", {.agent = "good", .best_us = 40});
  const Board all = board();
  EXPECT_EQ(agents(), (std::vector<std::string>{"cut", "ungraded", "weak", "good"}));
  EXPECT_EQ(all.rows[0].rank + all.rows[1].rank + all.rows[2].rank, 0);
  EXPECT_EQ(all.rows[3].rank, 1);
  const std::string table = print_board(all, BoardFormat::table);
  EXPECT_THAT(table, HasSubstr("unfinished"));
  EXPECT_THAT(table, HasSubstr("unverified"));
  EXPECT_THAT(table, HasSubstr("weak containment"));
}

TEST_F(LeaderboardTest, PutsASessionWithoutATimeLast) {
  write_run("a", {SessionStart{.harness_version = "0.1.0", .task = "rmsnorm_linear", .variant = "tiny", .task_sha256 = "",
                               .agent = "none", .device = "emu", .target = "", .containment = "", .rules = "rules/1"},
                  DeviceSeen{.kind = "emu", .name = "emu H200", .uuid = "", .target = "", .nvrtc_version = ""},
                  Ceilings{.stream_tb_s = 1, .floors = {}}});
  add("b", {.agent = "some"});
  EXPECT_EQ(agents(), (std::vector<std::string>{"some", "none"}));
  EXPECT_THAT(print_board(board(), BoardFormat::table), HasSubstr("none"));
}

TEST_F(LeaderboardTest, CountsARunOnceHoweverItIsReached) {
  add("a", {});
  fs::create_directory_symlink(folder_ / "a", folder_ / "link");
  const Board all = make_board({folder_, folder_ / "a", folder_ / "a/events.jsonl", folder_ / "link"}).value();
  EXPECT_EQ(all.rows.size(), 1u);
}

TEST_F(LeaderboardTest, SkipsWhatIsBrokenAndSaysWhy) {
  damages_traces_ = true;
  add("good", {});
  fs::create_directory(folder_ / "bad");
  put(folder_ / "bad/events.jsonl", "nonsense\n");
  fs::create_directory(folder_ / "empty");
  put(folder_ / "empty/events.jsonl", "");
  const Board all = board();
  EXPECT_EQ(all.rows.size(), 1u);
  ASSERT_EQ(all.skipped.size(), 2u);
  EXPECT_THAT(all.skipped[0], HasSubstr("line 1: not JSON"));
  EXPECT_THAT(all.skipped[1], HasSubstr("no session_start"));
  EXPECT_THAT(print_board(all, BoardFormat::table), HasSubstr("skipped " + all.skipped[0]));
}

TEST_F(LeaderboardTest, SaysThatNothingWasFoundAndWhere) {
  const std::string text = print_board(board(), BoardFormat::table);
  EXPECT_THAT(text, HasSubstr("No sessions found under " + folder_.string()));
  EXPECT_THAT(text, HasSubstr("onelaunch run"));
  const Result<Board> missing = make_board({folder_ / "none"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::invalid_input);
  EXPECT_THAT(missing.error().message, HasSubstr("no such file or folder"));
}

TEST_F(LeaderboardTest, TableShowsRankTimeFloorBaselineAndSeed) {
  add("a", {});
  const std::vector<std::string> lines = lines_of(print_board(board(), BoardFormat::table));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[1], testing::MatchesRegex("#  agent +us/token +tok/s +of floor +x eager +x seed +kept +to best +active +status +run"));
  EXPECT_THAT(lines[3], testing::MatchesRegex("1  tuner +80.00 +12500 +25.0 % +10.0x +1.250x +1/3 .* verified .*"));
}

TEST_F(LeaderboardTest, MarkdownEscapesWhatWouldBreakTheTable) {
  add("a", {.agent = "a|b*c"});
  const std::string md = print_board(board(), BoardFormat::md);
  EXPECT_THAT(md, HasSubstr("| 1 | a\\|b\\*c | 80.00 |"));
  EXPECT_THAT(md, HasSubstr("| ---: | --- | ---: |"));
}

TEST_F(LeaderboardTest, CsvQuotesAsRfc4180Says) {
  add("a", {.agent = "a,\"b\""});
  add("b", {.agent = "=1+1", .best_us = 90});
  const std::string csv = print_board(board(), BoardFormat::csv);
  EXPECT_THAT(csv, HasSubstr(",1,\"a,\"\"b\"\"\",8"));
  EXPECT_THAT(csv, HasSubstr(",2,'=1+1,9")) << "no spreadsheet runs it";
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("\r\n"));
}

TEST_F(LeaderboardTest, CsvHasAsManyCellsAsItsHeading) {
  add("a", {});
  const std::vector<std::string> lines = lines_of(print_board(board(), BoardFormat::csv));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), ','), std::count(lines[1].begin(), lines[1].end(), ','));
}

TEST_F(LeaderboardTest, JsonHoldsNumbersAndNullWhereThereIsNone) {
  add("a", {});
  add("b", {.agent = "cut", .best_us = 90, .finished = false, .regraded = false});
  const auto json = nlohmann::json::parse(print_board(board(), BoardFormat::json));
  EXPECT_EQ(json["format"], "onelaunch.board/1");
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0]["kind"], "modelled");
  EXPECT_NEAR(json["rows"][0]["over"]["eager"].get<double>(), 10, 1e-9);
  EXPECT_TRUE(json["rows"][1]["rank"].is_null());
  EXPECT_EQ(json["rows"][1]["verified"], false);
}

TEST_F(LeaderboardTest, RunsOfOneEntryShareARowThatSaysHowManyWereVerified) {
  add("a", {.agent = "same", .best_us = 90});
  add("b", {.agent = "same", .best_us = 80});
  add("c", {.agent = "same", .best_us = 70, .finished = false, .regraded = false});
  add("d", {.agent = "other", .best_us = 85});
  const Board all = board();
  ASSERT_EQ(all.rows.size(), 2u);
  EXPECT_EQ(all.rows[0].us, 80) << "the best verified run speaks, not the faster one that nobody checked";
  EXPECT_EQ(all.rows[0].runs, 3);
  EXPECT_EQ(all.rows[0].runs_verified, 2);
  EXPECT_EQ(all.rows[0].other_runs, (std::vector<std::string>{(folder_ / "a").string(), (folder_ / "c").string()}));
  EXPECT_THAT(print_board(all, BoardFormat::table), HasSubstr("2 of 3"));
}

// A session whose re-grade found these times, with intervals this wide to each side.
std::vector<Event> with_interval(const SessionShape& shape, double half) {
  std::vector<Event> events = small_session(shape, some_hash('1'), some_hash('2'));
  for (Event& event : events)
    if (auto* regrade = std::get_if<Regrade>(&event))
      for (ContextTime& time : regrade->times) time.us_low = time.us_median - half, time.us_high = time.us_median + half;
  return events;
}

TEST_F(LeaderboardTest, OverlappingIntervalsTieButTiesDoNotChain) {
  write_run("a", with_interval({.agent = "a", .kind = "measured", .best_us = 80}, 1));
  write_run("b", with_interval({.agent = "b", .kind = "measured", .best_us = 81.5}, 1));
  write_run("c", with_interval({.agent = "c", .kind = "measured", .best_us = 83}, 1));
  const Board all = board();
  EXPECT_NEAR(all.rows[0].us_low.value(), 79, 1e-9);
  EXPECT_NEAR(all.rows[0].us_high.value(), 81, 1e-9);
  EXPECT_EQ(all.rows[1].rank, 1) << "80.5 is below 81";
  EXPECT_EQ(all.rows[2].rank, 3) << "it overlaps with the second, not with the leader";
  EXPECT_THAT(print_board(all, BoardFormat::table), HasSubstr("79.00-81.00"));
}

TEST_F(LeaderboardTest, CountsWhatTheModelTookAndSaysNothingWhereNothingWasTold) {
  std::vector<Event> events = small_session({.agent = "paid"}, some_hash('1'), some_hash('2'));
  const ModelResponse response{.provider = "p", .model = "m-1", .turn = 1, .input_tokens = 100, .output_tokens = 20, .cost_usd = 0.5};
  events.insert(events.end() - 1, {Event(response), Event(response)});
  write_run("a", events);
  add("b", {.agent = "free", .best_us = 90});
  const Board all = board();
  EXPECT_EQ(all.rows[0].model, "m-1");
  EXPECT_EQ(all.rows[0].output_tokens, 40u);
  EXPECT_EQ(all.rows[0].cost_usd, 1.0);
  EXPECT_FALSE(all.rows[1].output_tokens || all.rows[1].cost_usd);
  EXPECT_THAT(print_board(all, BoardFormat::table), HasSubstr("$1.00"));
}

TEST_F(LeaderboardTest, ShowsCountedLaunchesAndBarriers) {
  std::vector<Event> events = small_session({}, some_hash('1'), some_hash('2'));
  for (Event& event : events)
    if (auto* time = std::get_if<Measurement>(&event); time && time->candidate == "c2") time->launches = 1, time->barriers = 14;
  write_run("a", events);
  const BoardRow row = board().rows.at(0);
  EXPECT_EQ(row.launches, 1);
  EXPECT_EQ(row.barriers, 14);
}

TEST_F(LeaderboardTest, MarksWhatIsQuarantined) {
  std::vector<Event> events = small_session({}, some_hash('1'), some_hash('2'));
  for (Event& event : events)
    if (auto* regrade = std::get_if<Regrade>(&event)) regrade->quarantine = "below the floor";
  write_run("a", events);
  EXPECT_EQ(board().rows.at(0).rank, 0);
  EXPECT_THAT(print_board(board(), BoardFormat::table), HasSubstr("unverified, quarantined"));
}

constexpr const char* kExternal = R"({"format":"onelaunch.external/1","entries":[{"agent":"theirs","task":"t","device":"d",
  "baseline":"b","over":12.5,"over_by_context":{"96":12},"launches":1,"citation":"a paper, 2026"}]})";

TEST_F(LeaderboardTest, ShowsAddedExternalEntriesWithoutRank) {
  add("a", {});
  put(folder_ / "mine.external.json", kExternal);
  const Board all = board();
  ASSERT_EQ(all.external.size(), 1u) << "what is shipped is about another task";
  EXPECT_EQ(all.rows.size(), 1u);
  for (const BoardFormat format : {BoardFormat::table, BoardFormat::md}) {
    EXPECT_THAT(print_board(all, format), HasSubstr("cited, not ranked"));
    EXPECT_THAT(print_board(all, format), HasSubstr("a paper, 2026"));
  }
  EXPECT_EQ(nlohmann::json::parse(print_board(all, BoardFormat::json))["external"][0]["over_by_context"]["96"], 12);
}

TEST_F(LeaderboardTest, ShipsWhatWasPublishedForATaskOnTheBoard) {
  const std::vector<ExternalEntry> shipped = shipped_external();
  ASSERT_EQ(shipped.size(), 4u);
  EXPECT_EQ(shipped[0].over, 18.71);
  EXPECT_EQ(shipped[0].over_by_context.at(16384), 19.5);
  EXPECT_EQ(shipped[0].barriers, 14);
  add("a", {.task = shipped[0].task});
  EXPECT_EQ(board().external.size(), 4u);
}

TEST_F(LeaderboardTest, SaysWhatIsWrongInAnExternalFile) {
  const auto problem = [](const std::string& text) { return parse_external(text, "f").error().message; };
  EXPECT_THAT(problem("{"), HasSubstr("f: not JSON"));
  EXPECT_THAT(problem("{}"), HasSubstr("onelaunch.external/1"));
  std::string text = kExternal;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return problem(changed);
  };
  EXPECT_THAT(with("\"citation\"", "\"cite\""), HasSubstr("entry 1: `citation` is missing"));
  EXPECT_THAT(with("12.5", "-1"), HasSubstr("`over` is no number"));
  EXPECT_THAT(with("\"launches\":1", "\"launches\":1.5"), HasSubstr("`launches` is no count"));
  EXPECT_THAT(with("\"96\"", "\"x\""), HasSubstr("maps contexts to numbers"));
  EXPECT_THAT(with("\"launches\"", "\"launhces\""), HasSubstr("`launhces` is no field"));
  EXPECT_THAT(with("a paper, 2026\"", "p\",\"url\":\"javascript:x\""), HasSubstr("no web address"));
  put(folder_ / "bad.external.json", "{");
  EXPECT_EQ(board().skipped.size(), 1u);
}

}  // namespace
}  // namespace onelaunch::traces
