#include "tests/agent/tools/toolbox_fixture.h"

namespace onelaunch::agent {
namespace {

using SessionTools = ToolboxTest;

TEST_F(SessionTools, EvaluateProposesTheFileWithItsNoteAndPrediction) {
  text("str_replace", {{"old", "return 2"}, {"new", "return 3"}});
  const ToolReply reply = call("evaluate", {{"note", "three"}, {"predict_us", 90}, {"defines", {"A=2"}}});
  ASSERT_TRUE(reply.proposal) << reply.text;
  EXPECT_FALSE(reply.error);
  EXPECT_EQ(reply.proposal->source, toolbox->candidate());
  EXPECT_EQ(reply.proposal->note, "three");
  EXPECT_EQ(reply.proposal->prediction_us, 90);
  EXPECT_EQ(reply.proposal->parent, "c0");
  EXPECT_EQ(reply.proposal->tunables, (sandbox::TunableValues{{"A", "2"}}));
  error("evaluate");
  error("evaluate", {{"note", "n"}, {"predict_us", "soon"}});
  error("evaluate", {{"note", "n"}, {"defines", {"A"}}});
}

TEST_F(SessionTools, EvaluateRefusesWhatWasJudgedAndSaysHowThatWent) {
  EXPECT_THAT(error("evaluate", {{"note", "again"}}), HasSubstr("the code of c0, byte for byte"));
  text("str_replace", {{"old", "  return 2;"}, {"new", "return   2; // two"}});
  const std::string why = error("evaluate", {{"note", "again"}, {"defines", {"A=1"}}});
  EXPECT_THAT(why, HasSubstr("the code of c0 but for white space and comments"));
  EXPECT_THAT(why, HasSubstr("100.00 us"));
  EXPECT_TRUE(call("evaluate", {{"note", "other value"}, {"defines", {"A=2"}}}).proposal);
}

TEST_F(SessionTools, EvaluateRefusesWhatCannotBeJudgedInTime) {
  text("write_kernel", {{"source", "new"}});
  bench.standing.evaluation_s = 120;
  clock.advance(3600 - 180 - 100);
  EXPECT_THAT(error("evaluate", {{"note", "n"}}), HasSubstr("judging takes up to 120 s here, and 100 s are left"));
}

TEST_F(SessionTools, AttemptsKnowWhatTheyWereMadeFrom) {
  text("write_kernel", {{"source", "first"}});
  ASSERT_TRUE(call("evaluate", {{"note", "n"}}).proposal);
  judged("first", Verdict::revert, 110, {});
  text("write_kernel", {{"source", "second"}});
  EXPECT_EQ(call("evaluate", {{"note", "n"}}).proposal->parent, "c1");
  text("revert", {{"id", "c0"}});
  text("write_kernel", {{"source", "third"}});
  EXPECT_EQ(call("evaluate", {{"note", "n"}}).proposal->parent, "c0");
}

TEST_F(SessionTools, ReportsSayHowAnAttemptDidAgainstThePrediction) {
  Report report = judged("x", Verdict::keep, 80);
  report.proposal.prediction_us = 60;
  report.over_seed = 1.25;
  const std::string said = toolbox->report_text(report);
  EXPECT_THAT(said, HasSubstr("c1: KEPT"));
  EXPECT_THAT(said, HasSubstr("80.00 us a token, modelled; 1.2500x over c0; 1.250x over the seed"));
  EXPECT_THAT(said, HasSubstr("33.3 % slower than that"));
  EXPECT_THAT(said, HasSubstr("1 decisions, 1 kept; best c1 80.00 us"));
}

TEST_F(SessionTools, HistoryTellsPredictionsAndVariations) {
  Report report = judged(kTen, Verdict::revert, 110, {{"A", "2"}});
  bench.reports.back().proposal.prediction_us = 100;
  bench.reports.back().proposal.note = "other | value\nmore";
  std::string source = kTen;
  source.replace(source.find("return 2"), 8, "return 7");
  judged(source, Verdict::revert, 105);
  const std::string table = text("history");
  EXPECT_THAT(table, HasSubstr("c1 | c0 | revert | 110.00 | 0.9091 | 100.00 (it was +10.0 %) | other / value; A=2; same code as c0"));
  EXPECT_THAT(table, HasSubstr("c2 | c0 | revert | 105.00 |"));
  EXPECT_THAT(table, HasSubstr("near c0, 2 words differ"));
}

TEST_F(SessionTools, HistoryShowsOneAttemptWithItsSourceAndChanges) {
  std::string source = kTen;
  source.replace(source.find("return 2"), 8, "return 7");
  judged(source, Verdict::revert, 105);
  const std::string said = text("history", {{"id", "c1"}});
  EXPECT_THAT(said, HasSubstr("-  return 2;"));
  EXPECT_THAT(said, HasSubstr("+  return 7;"));
  EXPECT_THAT(said, HasSubstr("source, lines 1 to 10 of 10:"));
  EXPECT_THAT(error("history", {{"id", "c9"}}), HasSubstr("c9"));
  error("history", {{"from", 0}});
}

TEST_F(SessionTools, HistoryOfALongNightKeepsWhatWasKept) {
  for (int i = 1; i <= 300; ++i)
    judged("int x" + std::to_string(i) + " = f(" + std::to_string(i) + ");", i == 5 ? Verdict::keep : Verdict::revert, 90);
  const std::string table = text("history");
  EXPECT_THAT(table, HasSubstr("\nc5 | c0 | keep"));
  EXPECT_THAT(table, HasSubstr("\nc300 |"));
  EXPECT_THAT(table, Not(HasSubstr("\nc6 |")));
  EXPECT_THAT(table, HasSubstr("241 older attempts"));
}

TEST_F(SessionTools, RevertBringsBackAnyJudgedAttempt) {
  judged("other", Verdict::reject, 1);
  text("revert", {{"id", "c1"}});
  EXPECT_EQ(toolbox->candidate(), "other");
  judged(kTen, Verdict::keep, 50, {{"A", "2"}});
  EXPECT_THAT(text("revert", {{"id", "c2"}}), HasSubstr("judged with A=2"));
  error("revert", {{"id", "c77"}});
  error("revert");
  EXPECT_EQ(toolbox->candidate(), kTen);
}

TEST_F(SessionTools, NotesAreKeptUpToALimit) {
  EXPECT_THAT(text("notes"), HasSubstr("no notes yet"));
  text("notes", {{"text", "first"}});
  text("notes", {{"text", "second\n"}});
  EXPECT_THAT(text("notes"), HasSubstr("first\nsecond\n"));
  EXPECT_EQ(toolbox->notes(), "first\nsecond\n");
  EXPECT_THAT(error("notes", {{"text", std::string(70000, 'x')}}), HasSubstr("Nothing was added"));
}

TEST_F(SessionTools, TaskShowsItsSections) {
  EXPECT_THAT(text("task", {{"section", "prose"}}), HasSubstr("Computes y."));
  EXPECT_THAT(text("task", {{"section", "rules"}}), HasSubstr("no rules"));
  EXPECT_THAT(text("task", {{"section", "probes"}}), HasSubstr("OL_PROBE"));
  EXPECT_THAT(text("task", {{"section", "floor"}}), HasSubstr("least"));
  EXPECT_THAT(text("task", {{"section", "header"}}), HasSubstr("namespace ol"));
  EXPECT_THAT(text("task", {{"section", "header"}, {"from", 3}}), HasSubstr("header, lines 3 to "));
  error("task", {{"section", "header"}, {"from", 1000000}});
  error("task", {{"section", "answers"}});
  error("task");
}

TEST_F(SessionTools, FinishEndsWithAReason) {
  const ToolReply reply = call("finish", {{"reason", "nothing left"}});
  EXPECT_TRUE(reply.finished);
  EXPECT_THAT(reply.text, HasSubstr("nothing left"));
  error("finish");
}

TEST_F(SessionTools, UnknownToolsAreAnsweredWithTheKnown) {
  EXPECT_THAT(error("rm"), HasSubstr("There are: read_kernel, "));
  EXPECT_TRUE(toolbox->call("compile", "{\"defines\": [", Deadline::after(clock, Seconds(1))).error);
}

TEST_F(SessionTools, StateComesBackAsItWasSaved) {
  text("write_kernel", {{"source", "mine"}});
  text("notes", {{"text", "remember"}});
  const std::string saved = toolbox->save();
  Toolbox other(bench);
  EXPECT_NE(other.save(), saved);
  ASSERT_TRUE(other.restore(saved));
  EXPECT_EQ(other.save(), saved);
  EXPECT_EQ(other.notes(), "remember\n");
  for (const char* broken : {"", "{}", "[]", R"({"v":"onelaunch.tools/1","source":1,"origin":"","origin_sha256":"","notes":""})"})
    EXPECT_FALSE(other.restore(broken)) << broken;
  EXPECT_EQ(other.save(), saved);
}

}  // namespace
}  // namespace onelaunch::agent
