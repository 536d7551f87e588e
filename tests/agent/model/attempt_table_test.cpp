#include "agent/prompts/attempt_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/prompts/prompts.h"

namespace onelaunch::agent {
namespace {

Report attempt(int number, Verdict verdict) {
  Report report;
  report.candidate = "c" + std::to_string(number);
  report.proposal.parent = "c0";
  report.proposal.note = "wider | loads\nsecond line";
  report.proposal.tunables = {{"A", "2"}};
  report.verdict = verdict;
  report.us = 101.5;
  report.over_incumbent = 0.98765;
  report.reason = "2 % slower";
  return report;
}

TEST(AttemptTable, SaysThatThereIsNothingButTheSeed) {
  EXPECT_EQ(attempt_table({}), attempt_table({attempt(0, Verdict::keep)}));
}

TEST(AttemptTable, HasOneLineAnAttempt) {
  const std::string table = attempt_table({attempt(0, Verdict::keep), attempt(1, Verdict::revert)});
  EXPECT_NE(table.find("| c1 | c0 | revert | 101.50 | 0.9877 | wider / loads; A=2 | 2 % slower |\n"), std::string::npos) << table;
  EXPECT_EQ(std::ranges::count(table, '\n'), 4);
}

TEST(AttemptTable, ShowsAllKeptOnesAndTheNewestOfALongSession) {
  std::vector<Report> history;
  for (int i = 0; i < 400; ++i) history.push_back(attempt(i, i % 40 == 0 ? Verdict::keep : Verdict::revert));
  const std::string table = attempt_table(history);
  for (int i = 0; i < 400; i += 40) EXPECT_NE(table.find("| c" + std::to_string(i) + " |"), std::string::npos) << i;
  EXPECT_NE(table.find("| c399 |"), std::string::npos);
  EXPECT_EQ(table.find("| c201 |"), std::string::npos);
  EXPECT_NE(table.find("340 more attempts are not shown"), std::string::npos) << table.substr(table.size() - 200);
}

TEST(AttemptTable, CutsLongTextsBetweenCharacters) {
  Report report = attempt(1, Verdict::revert);
  report.proposal.note.clear();
  report.proposal.tunables.clear();
  for (int i = 0; i < 300; ++i) report.proposal.note += "\xc3\xa4";
  const std::string table = attempt_table({attempt(0, Verdict::keep), report});
  const std::size_t dots = table.find("...");
  ASSERT_NE(dots, std::string::npos);
  EXPECT_EQ(table.substr(dots - 2, 2), "\xc3\xa4");
}

TEST(Prompts, AreTheSameTextInEveryCallAndKnowTheirDevice) {
  sandbox::DeviceInfo device;
  device.target = "sm_90a";
  const std::string with_craft = system_prompt(device);
  EXPECT_EQ(with_craft, system_prompt(device));
  device.target = "sm_100a";
  const std::string without = system_prompt(device);
  EXPECT_TRUE(with_craft.starts_with(without));
  EXPECT_GT(with_craft.size(), without.size() + 4000);
  EXPECT_EQ(prompts_sha256().size(), 64u);
}

}  // namespace
}  // namespace onelaunch::agent
