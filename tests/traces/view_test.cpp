#include "traces/view.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/blobs.h"

namespace onelaunch::traces {
namespace {

using testing::HasSubstr;
using testing::Not;

class ViewTest : public RunFixture {
 protected:
  std::filesystem::path session(const SessionShape& shape = {}) {
    const std::string seed = store_blob(folder_ / "run", "one\ntwo\nthree\n").value();
    const std::string other = store_blob(folder_ / "run", "one\n2\nthree\n").value();
    return write_run("run", small_session(shape, seed, other));
  }
  std::string view(const std::filesystem::path& run, const ViewOptions& options = {}) {
    std::ostringstream out;
    const Result<void> done = print_timeline(run, options, out);
    return done ? out.str() : "failed: " + done.error().message;
  }
  // The line that shows an attempt.
  std::string line_of(const std::string& text, const std::string& id) {
    for (const std::string& line : lines_of(text))
      if (line.find(" s  " + id + " ") != std::string::npos) return line;
    return "no line of " + id + " in\n" + text;
  }
};

TEST_F(ViewTest, HeadSaysTaskAgentDeviceTermsAndThatTimesAreModelled) {
  const std::string text = view(session());
  EXPECT_THAT(text, HasSubstr("rmsnorm_linear (tiny) | agent tuner | onelaunch 0.1.0"));
  EXPECT_THAT(text, HasSubstr("wall 120 s, reserve 10 s | min gain 0.3 %"));
  EXPECT_THAT(text, HasSubstr("device emu H200"));
  EXPECT_THAT(text, HasSubstr("times are MODELLED, not measured"));
  EXPECT_THAT(text, HasSubstr("baseline eager: 800.00 us (modelled, 4 launches)"));
  EXPECT_THAT(text, HasSubstr("floor at context 96: 20.00 us"));
  EXPECT_THAT(text, HasSubstr("control zeros: failed, as it must"));
}

TEST_F(ViewTest, LabelsMeasuredTimesAsMeasured) {
  const std::string text = view(session({.kind = "measured"}));
  EXPECT_THAT(text, HasSubstr("times are measured"));
  EXPECT_THAT(text, Not(HasSubstr("MODELLED")));
}

TEST_F(ViewTest, ShowsOneLinePerAttemptWithChangesOutcomeAndReason) {
  const std::string text = view(session());
  EXPECT_THAT(line_of(text, "c0"), testing::AllOf(HasSubstr("passed"), HasSubstr("100.00"), HasSubstr("keep"), HasSubstr("seed, BLOCK=256")));
  EXPECT_THAT(line_of(text, "c1"), testing::AllOf(HasSubstr("wrong_answer"), HasSubstr("revert"), HasSubstr("BLOCK 256->512; y differs")));
  EXPECT_THAT(line_of(text, "c2"), testing::AllOf(HasSubstr("80.00"), HasSubstr("1.250x"), HasSubstr("keep"), HasSubstr("new source, SPLIT 1->4; faster by 20 %")));
  EXPECT_THAT(line_of(text, "c3"), testing::AllOf(HasSubstr("160.00"), HasSubstr("0.500x"), HasSubstr("revert"), HasSubstr("BLOCK 256->128; slower")));
  EXPECT_THAT(line_of(text, "c1"), Not(HasSubstr("SPLIT"))) << "only what changed";
}

TEST_F(ViewTest, ShowsGateFailuresNotesAndErrorsInOneLineEach) {
  const std::string text = view(session());
  EXPECT_THAT(text, HasSubstr("correctness/outputs failed: y[17] got 0.500000, want 0.250000, tolerance 0.010000 (context 32, step 1, seed 99)\n"));
  EXPECT_THAT(text, HasSubstr("why: bigger blocks\n"));
  EXPECT_THAT(text, HasSubstr("note by agent: block 512 races\n"));
  EXPECT_THAT(text, HasSubstr("infrastructure error at c3: the worker would not start\n"));
}

TEST_F(ViewTest, CloseSaysHowMuchWasGainedOverWhat) {
  const std::string text = view(session());
  EXPECT_THAT(text, HasSubstr("best c2: 80.00 us (modelled), 10.0x over eager (800.00 us), 1.250x over the seed (100.00 us)"));
  EXPECT_THAT(text, HasSubstr("context 96: 80.00 us, 25.0 % of the floor's speed"));
  EXPECT_THAT(text, HasSubstr("re-grade of c2: passed, 80.00 us (modelled)"));
  EXPECT_THAT(text, HasSubstr("3 judged, 1 kept"));
  EXPECT_THAT(text, HasSubstr("ended: cap (the wall is reached)"));
  EXPECT_THAT(text, HasSubstr("compile 1.5 s, gate 2.0 s"));
}

TEST_F(ViewTest, SaysThatASessionIsNotFinishedAndHowToGoOn) {
  const std::string text = view(session({.finished = false, .regraded = false}));
  EXPECT_THAT(text, HasSubstr("NOT FINISHED"));
  EXPECT_THAT(text, HasSubstr("--resume " + (folder_ / "run").string()));
  EXPECT_THAT(text, HasSubstr("UNVERIFIED"));
}

TEST_F(ViewTest, ShowsAnAttemptThatWasNeverJudged) {
  const auto run = session({.finished = false, .regraded = false});
  append_to(run, {Candidate{.id = "c4", .parent = "c2", .source_sha256 = some_hash('a'), .tunables = {}, .note = ""},
                  Resume{.previous_uuid = "emu-1", .uuid = "emu-2", .spent_s = 12.5, .torn_line = true}});
  const std::string text = view(run);
  EXPECT_THAT(line_of(text, "c4"), HasSubstr("not judged"));
  EXPECT_THAT(text, HasSubstr("resumed with 12.5 s spent, a torn line was put aside, on another device: emu-1 -> emu-2"));
  EXPECT_THAT(text, HasSubstr("in 2 legs"));
}

TEST_F(ViewTest, DiffShowsWhatAKeptKernelChanged) {
  EXPECT_THAT(view(session(), {.diff = true}), HasSubstr("--- c0\n+++ c2\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"));
}

TEST_F(ViewTest, DiffSaysThatASourceIsMissing) {
  const auto run = session();
  std::filesystem::remove_all(run / "blobs");
  EXPECT_THAT(view(run, {.diff = true}), HasSubstr("no diff: "));
}

TEST_F(ViewTest, ShowsOnlyTheVerdictAskedFor) {
  const std::string text = view(session(), {.only = "keep"});
  EXPECT_THAT(line_of(text, "c2"), HasSubstr("keep"));
  EXPECT_THAT(line_of(text, "c1"), HasSubstr("no line of"));
  EXPECT_THAT(text, Not(HasSubstr("note by")));
  EXPECT_THAT(text, HasSubstr("best c2"));
}

TEST_F(ViewTest, IsPlainUnlessColorIsAskedFor) {
  const auto run = session();
  EXPECT_THAT(view(run), Not(HasSubstr("\033")));
  EXPECT_THAT(view(run, {.color = true}), HasSubstr("\033[32m"));
}

TEST_F(ViewTest, DoesNotLetANoteSteerTheTerminal) {
  const auto run = session();
  append_to(run, {Note{.author = "x\033[1m", .text = "\033]0;title\007\nsecond line"}});
  EXPECT_THAT(view(run), Not(HasSubstr("\033")));
  EXPECT_THAT(view(run), HasSubstr("]0;title second line"));
}

TEST_F(ViewTest, SaysThatTheLastLineIsTornOrThatThereIsNothing) {
  const auto run = session();
  damages_traces_ = true;
  put(run / "events.jsonl", content_of(run / "events.jsonl") + "{\"v\"");
  EXPECT_THAT(view(run), HasSubstr("torn"));
  put(run / "events.jsonl", "");
  EXPECT_THAT(view(run), HasSubstr("holds no events yet"));
  EXPECT_THAT(view(folder_ / "none"), HasSubstr("cannot open"));
}

TEST_F(ViewTest, ShowsOnlyWhatFailedWhenAskedForRejects) {
  const std::string text = view(session(), {.only = "reject"});
  EXPECT_THAT(line_of(text, "c1"), HasSubstr("wrong_answer"));
  EXPECT_THAT(line_of(text, "c3"), HasSubstr("no line of c3"));
}

// Everything up to the wait appears before it, everything after it once it is written, torn lines never.
TEST_F(ViewTest, FollowsASessionUntilItsEnd) {
  const std::filesystem::path run = session();
  const std::vector<std::string> lines = lines_of(content_of(run / "events.jsonl"));
  const std::filesystem::path live = folder_ / "live";
  std::filesystem::create_directory(live);
  std::size_t shown = 12, waits = 0;
  const auto publish = [&](bool torn) {
    const std::string text = joined({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown)});
    put(live / "events.jsonl", text + (torn ? lines[shown].substr(0, 20) : ""));
  };
  publish(true);
  damages_traces_ = true;
  std::ostringstream out;
  std::string first;
  const Result<void> done = follow_timeline(live, {}, out, [&] {
    if (++waits == 1) first = out.str();
    EXPECT_LE(waits, lines.size());
    shown = std::min(shown + 7, lines.size());
    publish(shown < lines.size());
    return true;
  });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(first, HasSubstr("c0"));
  EXPECT_THAT(first, Not(HasSubstr("c3")));
  std::string whole = out.str(), expected = view(run);
  EXPECT_EQ(lines_of(whole).at(5), lines_of(expected).at(5));
  EXPECT_THAT(line_of(whole, "c3"), HasSubstr("slower"));
  EXPECT_GT(waits, 2u);
}

TEST_F(ViewTest, FollowingEndsWhenNothingMoreWillCome) {
  const std::filesystem::path run = session({.finished = false, .regraded = false});
  std::ostringstream out;
  EXPECT_TRUE(follow_timeline(run, {}, out, [] { return false; }));
  EXPECT_EQ(out.str(), view(run));
}

}  // namespace
}  // namespace onelaunch::traces
