#include "agent/tuner/tuner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/fakes/fake_clock.h"

namespace onelaunch::agent {
namespace {

constexpr const char* kSource =
    "OL_TUNABLE(A, 1, 1, 2, 4, 8)\nOL_TUNABLE(B, 1, 1, 2, 4, 8)\nOL_TUNABLE(C, 1, 1, 2, 4, 8)\nmegakernel";

Report report_of(const Proposal& proposal, std::optional<double> us) {
  Report report;
  report.proposal = proposal;
  report.us = us;
  report.verdict = us ? Verdict::revert : Verdict::reject;
  return report;
}

Brief brief_with_seed(double us) {
  Brief brief;
  brief.seed_source = kSource;
  brief.history = {report_of({.source = kSource, .tunables = {{"A", "1"}, {"B", "1"}, {"C", "1"}}}, us)};
  return brief;
}

std::optional<Proposal> ask(Tuner& tuner) {
  const auto answer = tuner.ask(Deadline{});
  EXPECT_TRUE(answer);
  return answer ? *answer : std::nullopt;
}

// Least at A = 4, B = 2, C = 8, with each tunable to be improved on its own.
double bowl(const sandbox::TunableValues& at) {
  const auto off = [&](const char* name, double best) { return std::abs(std::log2(std::stod(at.at(name)) / best)); };
  return 100 + 10 * off("A", 4) + 5 * off("B", 2) + 3 * off("C", 8);
}

TEST(Tuner, FindsTheBestOfASeparableSpaceInOneRoundOfDescent) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(bowl({{"A", "1"}, {"B", "1"}, {"C", "1"}}))));
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto proposal = ask(tuner);
    ASSERT_TRUE(proposal);
    best = std::min(best, bowl(proposal->tunables));
    tuner.tell(report_of(*proposal, bowl(proposal->tunables)));
  }
  EXPECT_DOUBLE_EQ(best, 100);
}

TEST(Tuner, ProposesEveryPointOnceAndThenSaysThatItIsExhausted) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(200)));
  std::set<sandbox::TunableValues> seen = {{{"A", "1"}, {"B", "1"}, {"C", "1"}}};
  for (auto proposal = ask(tuner); proposal; proposal = ask(tuner)) {
    EXPECT_TRUE(seen.insert(proposal->tunables).second) << "proposed twice";
    tuner.tell(report_of(*proposal, bowl(proposal->tunables)));
    ASSERT_LE(seen.size(), 64u);
  }
  EXPECT_EQ(seen.size(), 64u);
}

TEST(Tuner, IsExhaustedAlsoWhenEveryPointFails) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(200)));
  int proposals = 0;
  for (auto proposal = ask(tuner); proposal; proposal = ask(tuner), ++proposals)
    tuner.tell(report_of(*proposal, std::nullopt));
  EXPECT_EQ(proposals, 63);
}

TEST(Tuner, LeavesAValueThatAlwaysFailsForLast) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(200)));
  int with_eight = 0;
  for (int i = 0; i < 40; ++i) {
    const auto proposal = ask(tuner);
    ASSERT_TRUE(proposal);
    const bool fails = proposal->tunables.at("A") == "8";
    with_eight += fails;
    tuner.tell(report_of(*proposal, fails ? std::nullopt : std::optional(bowl(proposal->tunables))));
  }
  EXPECT_EQ(with_eight, 3);
}

TEST(Tuner, DescendsFromARandomPointThatAQuickCheckLetGo) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(100)));
  for (int i = 0; i < 62; ++i) {
    const auto proposal = ask(tuner);
    ASSERT_TRUE(proposal) << i;
    Report report = report_of(*proposal, std::nullopt);
    report.verdict = Verdict::revert;
    report.over_incumbent = 0.5;
    tuner.tell(report);
    if (proposal->note.starts_with("a random restart")) {
      const auto next = ask(tuner);
      ASSERT_TRUE(next);
      int changed = 0;
      for (const auto& [name, value] : proposal->tunables) changed += next->tunables.at(name) != value;
      EXPECT_EQ(changed, 1) << "one step of the new descent";
      return;
    }
  }
  FAIL() << "no random restart";
}

// Tells `first` of the first proposal and that the others are slower, until another tunable than A is tried.
Proposal after_a(Tuner& tuner, Report first) {
  EXPECT_TRUE(tuner.begin(brief_with_seed(200)));
  for (int i = 0;; ++i) {
    const auto proposal = ask(tuner);
    if (!proposal || proposal->tunables.at("B") != "1" || proposal->tunables.at("C") != "1")
      return proposal.value_or(Proposal{});
    Report report = i == 0 ? first : report_of(*proposal, 300);
    report.proposal = *proposal;
    tuner.tell(report);
  }
}

TEST(Tuner, DoesNotFollowWhatIsInQuarantine) {
  Tuner tuner;
  Report report;
  report.verdict = Verdict::quarantine;
  report.us = 10;
  EXPECT_EQ(after_a(tuner, report).tunables.at("A"), "1");
}

TEST(Tuner, PlacesMeasuredTimesByTheirRatioToTheIncumbent) {
  Report report;
  report.verdict = Verdict::revert;
  report.modelled = false;
  report.us = 199;  // in a worker that happened to be fast
  report.over_incumbent = 0.99;
  Tuner fooled, right;
  EXPECT_EQ(after_a(fooled, report).tunables.at("A"), "1");
  report.over_incumbent = 1.001;
  EXPECT_EQ(after_a(right, report).tunables.at("A"), "2") << "not kept, but on the way down";
}

TEST(Tuner, GivesTheSameProposalsForTheSameSeed) {
  Tuner one(7), two(7);
  ASSERT_TRUE(one.begin(brief_with_seed(200)));
  ASSERT_TRUE(two.begin(brief_with_seed(200)));
  for (int i = 0; i < 60; ++i) {
    const auto a = ask(one), b = ask(two);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->tunables, b->tunables);
    one.tell(report_of(*a, 150));
    two.tell(report_of(*b, 150));
  }
}

TEST(Tuner, MayBeAskedAheadOfTheAnswer) {
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief_with_seed(200)));
  const auto first = ask(tuner), second = ask(tuner);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->tunables, second->tunables);
  tuner.tell(report_of(*first, 90));
  const auto third = ask(tuner);
  ASSERT_TRUE(third);
  EXPECT_NE(third->tunables, second->tunables);
}

TEST(Tuner, NeverRepeatsWhatWasJudgedBeforeAResume) {
  Brief brief = brief_with_seed(200);
  brief.history.push_back(report_of({.source = kSource, .tunables = {{"A", "2"}, {"B", "1"}, {"C", "1"}}}, 190.0));
  brief.history.push_back(
      report_of({.source = kSource, .tunables = {{"A", "4"}, {"B", "1"}, {"C", "1"}}}, std::nullopt));
  Tuner tuner;
  ASSERT_TRUE(tuner.begin(brief));
  int proposals = 0;
  for (auto proposal = ask(tuner); proposal; proposal = ask(tuner), ++proposals) {
    for (const Report& known : brief.history) EXPECT_NE(proposal->tunables, known.proposal.tunables);
    tuner.tell(report_of(*proposal, 200));
  }
  EXPECT_EQ(proposals, 61);
}

TEST(Tuner, HasNothingToDoForAKernelWithoutTunables) {
  Tuner tuner;
  Brief brief;
  brief.seed_source = "megakernel";
  brief.history = {report_of({.source = "megakernel", .tunables = {}}, 100.0)};
  ASSERT_TRUE(tuner.begin(brief));
  EXPECT_FALSE(ask(tuner));
}

}  // namespace
}  // namespace onelaunch::agent
