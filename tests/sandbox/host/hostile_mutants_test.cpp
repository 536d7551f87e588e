// Each mutant of the seed in tests/hostile/mutants.json must be rejected for its own reason, each honest variant pass.

#include "tests/sandbox/host/hostile_mutants.h"

#include <gtest/gtest.h>

#include <set>

namespace onelaunch::sandbox {
namespace {

const JudgeOptions kOptions{.worker = ONELAUNCH_WORKER_PATH, .seeds = {5}, .threads = 2};

MutantTable table() {
  auto read = read_mutants(ONELAUNCH_HOSTILE "/mutants.json");
  EXPECT_TRUE(read) << read.error().message;
  return read ? std::move(*read) : MutantTable{};
}

TEST(MutantTable, NamesEachOnceAndSaysWhatRejectsIt) {
  const MutantTable all = table();
  EXPECT_GE(all.mutants.size(), 60u);
  EXPECT_GE(all.honest.size(), 5u);
  std::set<std::string> names;
  for (const Mutant& mutant : all.mutants) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_FALSE(mutant.note.empty()) << mutant.name;
    EXPECT_NE(mutant.rejected.outcome.empty(), mutant.open.empty()) << mutant.name << ": either rejected or open";
  }
}

TEST(MutantTable, ReplacesATextOnlyWhereItOccursOnce) {
  Mutant mutant;
  mutant.name = "m";
  mutant.replace = {{"b", "x"}};
  EXPECT_EQ(apply(mutant, "abc").value_or(""), "axc");
  EXPECT_FALSE(apply(mutant, "abcb"));
  EXPECT_FALSE(apply(mutant, "ac"));
}

TEST(MutantTable, TellsARejectionForAnotherReason) {
  Verdict verdict;
  verdict.outcome = WrongAnswer{"off"};
  GateResult gate;
  gate.test = "element";
  gate.tensor = "y";
  verdict.grade.gates = {gate};
  EXPECT_EQ(difference({"wrong_answer", "element", "y", ""}, verdict), "");
  EXPECT_NE(difference({"wrong_answer", "element", "z", ""}, verdict), "");
  EXPECT_NE(difference({"wrong_answer", "unwritten", "y", ""}, verdict), "");
  EXPECT_NE(difference({"faulted", "", "", ""}, verdict), "");
  verdict.outcome = Faulted{"data_race", "two blocks"};
  EXPECT_EQ(difference({"faulted", "", "", "data_race"}, verdict), "");
  EXPECT_NE(difference({"faulted", "", "", "out_of_bounds"}, verdict), "");
}

// In parts, so that each stays well within a test's time on a busy machine.
constexpr std::size_t kParts = 4;
class Mutants : public testing::TestWithParam<std::size_t> {};

std::vector<Mutant> part_of(const std::vector<Mutant>& mutants, std::size_t part) {
  std::vector<Mutant> taken;
  for (std::size_t i = part; i < mutants.size(); i += kParts) taken.push_back(mutants[i]);
  return taken;
}

TEST_P(Mutants, AreEachRejectedForTheirOwnReason) {
  const MutantTable all = table();
  const std::vector<Mutant> mutants = part_of(all.mutants, GetParam());
  ASSERT_GE(mutants.size(), 10u);
  const auto verdicts = judge_all(all, mutants, kOptions);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Mutant& mutant = mutants[i];
    ASSERT_TRUE(verdicts[i]) << verdicts[i].error().message;
    const Verdict& verdict = verdicts[i]->front();
    if (mutant.open.empty()) {
      EXPECT_EQ(difference(mutant.rejected, verdict), "") << mutant.name;
    } else {
      EXPECT_TRUE(std::holds_alternative<Passed>(verdict.outcome))
          << mutant.name << " is rejected now (" << reason(verdict) << "): say so in the table and in docs/gates.md";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Part, Mutants, testing::Range(std::size_t{0}, kParts));

TEST(HonestVariants, Pass) {
  const MutantTable all = table();
  const auto verdicts = judge_all(all, all.honest, kOptions);
  for (std::size_t i = 0; i < all.honest.size(); ++i) {
    ASSERT_TRUE(verdicts[i]) << verdicts[i].error().message;
    const Verdict& verdict = verdicts[i]->front();
    EXPECT_STREQ(name_of(verdict.outcome), "passed") << all.honest[i].name << ": " << explain(verdict.outcome);
  }
}

}  // namespace
}  // namespace onelaunch::sandbox
