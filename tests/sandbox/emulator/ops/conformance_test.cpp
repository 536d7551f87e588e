// Every row of the opcode table against formulas of its own, under masks, with shared registers, and on every level.

#include <gtest/gtest.h>

#include <set>

#include "tests/sandbox/emulator/ops/cases.h"
#include "tests/sandbox/emulator/ops/operand_words.h"
#include "tests/sandbox/emulator/ops/recorded.h"

namespace onelaunch::emu::bench {
namespace {

std::vector<u64> lanes_of(const WarpWords& sources, std::size_t lane) {
  std::vector<u64> words;
  for (const auto& source : sources) words.push_back(source[lane]);
  return words;
}

std::string described(const Case& one, const std::vector<u64>& words) {
  std::string text = one.instruction + " of";
  for (const u64 word : words) {
    char hex[20];
    std::snprintf(hex, sizeof hex, " %llx", static_cast<unsigned long long>(word));
    text += hex;
  }
  return text;
}

// Approximations may be one off, in any half, where the formula rounds twice.
bool close(u64 got, u64 wanted, bool approximate) {
  if (got == wanted) return true;
  const u64 distance = got > wanted ? got - wanted : wanted - got;
  return approximate && (distance == 1 || distance == 0x10000 || distance == 0x10001 || distance == 0xffff);
}

void expect_formula(const Case& one, ops::Level level) {
  const Instruction instruction(one.instruction);
  const WarpWords words = operand_words(instruction);
  Bench bench(instruction);
  int failures = 0;
  for (std::size_t warp = 0; warp < kThreads / 32 && failures < 3; ++warp) {
    const WarpWords sources = warp_of(words, warp);
    const WarpWords got = bench.run(sources, {.level = level});
    ASSERT_FALSE(got.empty()) << one.instruction << ": " << bench.error();
    for (std::size_t lane = 0; lane < 32 && failures < 3; ++lane) {
      const std::vector<u64> s = lanes_of(sources, lane);
      const bool first = close(got[0][lane], one.formula(s.data()), one.ulps > 0);
      const bool second = !one.second || got[1][lane] == one.second(s.data());
      failures += !first || !second;
      EXPECT_TRUE(first) << described(one, s) << std::hex << " gave " << got[0][lane] << ", not " << one.formula(s.data());
      EXPECT_TRUE(second) << described(one, s) << " gave a wrong second result";
    }
  }
}

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, AgreesWithAnIndependentFormulaOnEveryLevel) {
  int judged = 0;
  for (const Case& one : all_cases()) {
    if (one.test != GetParam() || !one.formula) continue;
    ++judged;
    for (const ops::Level level : levels()) expect_formula(one, level);
  }
  EXPECT_GT(judged, 0) << "no case has a formula";
}

std::vector<std::string> tests_with_formulas() {
  std::set<std::string> names;
  for (const Case& one : all_cases())
    if (one.formula) names.insert(one.test);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(OfRows, Conformance, testing::ValuesIn(tests_with_formulas()),
                         [](const auto& instance) { return instance.param; });

// Rows whose lanes depend on one another have test suites of their own in this program, named like the row's test.
std::set<std::string> test_suites() {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  std::set<std::string> names;
  for (int i = 0; i < program.total_test_suite_count(); ++i) names.insert(program.GetTestSuite(i)->name());
  return names;
}

TEST(OpcodeTable, NamesATestThatRunsForEveryRow) {
  const std::vector<std::string> formulas = tests_with_formulas();
  const std::set<std::string> with_formula(formulas.begin(), formulas.end()), suites = test_suites();
  std::set<std::string> opcodes;
  for (const Case& one : all_cases()) opcodes.insert(Instruction(one.instruction).opcode());
  for (const OpcodeRow& row : arithmetic_rows()) {
    const std::string test(row.test);
    EXPECT_TRUE(with_formula.contains(test) || suites.contains(test)) << row.opcode << " names the unknown test " << test;
    EXPECT_TRUE(opcodes.contains(std::string(row.opcode)) || suites.contains(test)) << row.opcode << " has no case";
  }
}

TEST(Levels, GiveTheSameBits) {
  if (levels().size() < 2) GTEST_SKIP() << "this processor has only the portable level";
  for (const Case& one : all_cases()) {
    const Instruction instruction(one.instruction);
    EXPECT_EQ(emulated_words(instruction, ops::Level::portable), emulated_words(instruction, ops::Level::avx2))
        << one.instruction;
  }
}

bool is_collective(const Case& one) {
  return std::set<std::string>{"Shuffle", "Vote", "Match", "Redux", "ActiveMask", "Elect", "Mma"}.contains(one.test);
}

TEST(Masks, LeaveOtherLanesAloneAndGiveTheSameWordsToTheirOwn) {
  for (const Case& one : all_cases()) {
    if (is_collective(one)) continue;
    const Instruction instruction(one.instruction);
    const WarpWords words = operand_words(instruction);
    Bench bench(instruction);
    for (const ops::Level level : levels())
      for (const std::size_t warp : {0u, 3u, 50u, 127u})
        for (const u32 mask : {0x00000020u, 0x55555555u, 0xaaaaaaaau, 0x7fffffffu}) {
          const WarpWords sources = warp_of(words, warp);
          const WarpWords full = bench.run(sources, {.level = level});
          const WarpWords got = bench.run(sources, {.level = level, .mask = mask, .before = 0xfedcba9876543211u});
          for (std::size_t d = 0; d < got.size(); ++d) {
            std::size_t place = 0;
            for (std::size_t i = 0, seen = 0; i < instruction.placeholders().size(); ++i)
              if (instruction.placeholders()[i].destination && seen++ == d) place = i;
            const char kind = instruction.placeholders()[place].kind;
            const u64 before = kind == 'd'   ? 0xfedcba9876543211u
                               : kind == 'w' ? 0x76543211u
                               : kind == 'h' ? 0x3211u
                                             : 1u;
            for (std::size_t lane = 0; lane < 32; ++lane)
              ASSERT_EQ(got[d][lane], mask >> lane & 1 ? full[d][lane] : before)
                  << one.instruction << " lane " << lane << " mask " << std::hex << mask;
          }
        }
  }
}

TEST(SharedRegisters, MayBeDestinationAndSource) {
  for (const Case& one : all_cases()) {
    const Instruction instruction(one.instruction);
    const WarpWords words = operand_words(instruction);
    Bench bench(instruction);
    for (const ops::Level level : levels())
      for (const std::size_t warp : {0u, 17u, 127u}) {
        const WarpWords sources = warp_of(words, warp);
        ASSERT_EQ(bench.run(sources, {.level = level}),
                  bench.run(sources, {.level = level, .first_source_is_destination = true}))
            << one.instruction;
      }
  }
}

TEST(Immediates, MeanWhatRegistersOfThatValueMean) {
  for (const Case& one : all_cases()) {
    const Instruction instruction(one.instruction);
    const WarpWords words = operand_words(instruction);
    Bench bench(instruction);
    for (const std::size_t thread : {0u, 77u, 160u, 1111u, 4000u})
      for (std::size_t constant = 0; constant < words.size(); ++constant) {
        WarpWords sources = warp_of(words, thread / 32);
        sources[constant].assign(32, words[constant][thread]);
        ASSERT_EQ(bench.run(sources, {}), bench.run(sources, {.constants = true})) << one.instruction;
      }
  }
}

TEST(RecordedWords, OfAnH200AreWhatTheEmulatorGives) {
  ASSERT_GT(recorded_words().size(), 500u);
  for (const Recorded& recorded : recorded_words()) {
    const Instruction instruction{std::string(recorded.instruction)};
    EXPECT_EQ(hash_of(emulated_words(instruction, levels().back())), recorded.hash) << recorded.instruction;
  }
}

}  // namespace
}  // namespace onelaunch::emu::bench
