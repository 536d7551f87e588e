// Operations across lanes, under full and partial membership, by formulas of their own.

#include <gtest/gtest.h>

#include <map>

#include "tests/sandbox/emulator/ops/cases.h"
#include "tests/sandbox/emulator/ops/operand_words.h"

namespace onelaunch::emu::bench {
namespace {

constexpr u32 kMasks[] = {0xffffffff, 0x00000010, 0x55555555, 0x0000fff0, 0x80000001};

WarpWords some_words(const Instruction& instruction, std::size_t warp) {
  return warp_of(operand_words(instruction), warp);
}

// Calls check(sources, results, mask, lane) for every lane of every mask.
template <class Check>
void for_each_lane(const std::string& text, const Check& check) {
  const Instruction instruction(text);
  Bench bench(instruction);
  for (const ops::Level level : levels())
    for (const u32 mask : kMasks)
      for (const std::size_t warp : {0u, 30u, 99u, 140u, 255u}) {
        const WarpWords sources = some_words(instruction, warp);
        const WarpWords results = bench.run(sources, {.level = level, .mask = mask, .before = 7});
        ASSERT_FALSE(results.empty()) << text << ": " << bench.error();
        EXPECT_EQ(bench.op().control, Control::warp_collective);
        for (u32 lane = 0; lane < 32; ++lane)
          if (mask >> lane & 1) check(sources, results, mask, lane);
      }
}

// Source lane and whether it is inside the segment, as the instruction's definition says it.
std::pair<int, bool> shuffle_source(const std::string& mode, int lane, u32 b, u32 clamp) {
  const int by = static_cast<int>(b & 31), segment = static_cast<int>(clamp >> 8 & 31);
  const int last = static_cast<int>(clamp & 31);
  const int max_lane = (lane & segment) | (last & ~segment), min_lane = lane & segment;
  int from = mode == "up" ? lane - by : mode == "down" ? lane + by : mode == "bfly" ? lane ^ by : min_lane | (by & ~segment);
  const bool inside = mode == "up" ? from >= max_lane : from <= max_lane;
  return {inside ? from : lane, inside};
}

TEST(Shuffle, ReadsTheLaneThatItsModeNames) {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for_each_lane("shfl.sync." + mode + ".b32 $w|$p, $w, $w, $w, $w",
                  [&](const WarpWords& s, const WarpWords& d, u32, u32 lane) {
                    const auto [from, inside] = shuffle_source(mode, static_cast<int>(lane), static_cast<u32>(s[1][lane]),
                                                               static_cast<u32>(s[2][lane]));
                    EXPECT_EQ(d[0][lane], s[0][static_cast<std::size_t>(from)]) << mode;
                    EXPECT_EQ(d[1][lane], inside ? 1u : 0u) << mode;
                  });
}

TEST(Shuffle, NeedsNoPredicate) {
  for_each_lane("shfl.sync.bfly.b32 $w, $w, 16, 31, -1", [](const WarpWords& s, const WarpWords& d, u32, u32 lane) {
    EXPECT_EQ(d[0][lane], s[0][lane ^ 16]);
  });
}

u32 yes_lanes(const WarpWords& s, u32 mask, bool negated) {
  u32 lanes = 0;
  for (u32 i = 0; i < 32; ++i) lanes |= static_cast<u32>((s[0][i] & 1) != u64{negated}) << i;
  return lanes & mask;
}

TEST(Vote, CountsOnlyTheLanesThatTakePart) {
  for (const bool negated : {false, true}) {
    const std::string end = negated ? " $p, !$p, $w" : " $p, $p, $w";
    for_each_lane("vote.sync.all.pred" + end, [&](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
      EXPECT_EQ(d[0][lane], u64{yes_lanes(s, mask, negated) == mask});
    });
    for_each_lane("vote.sync.any.pred" + end, [&](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
      EXPECT_EQ(d[0][lane], u64{yes_lanes(s, mask, negated) != 0});
    });
    for_each_lane("vote.sync.uni.pred" + end, [&](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
      const u32 yes = yes_lanes(s, mask, negated);
      EXPECT_EQ(d[0][lane], u64{yes == 0 || yes == mask});
    });
    for_each_lane(std::string("vote.sync.ballot.b32 $w, ") + (negated ? "!$p, $w" : "$p, $w"),
                  [&](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
                    EXPECT_EQ(d[0][lane], yes_lanes(s, mask, negated));
                  });
  }
}

TEST(Match, FindsTheLanesOfEqualValue) {
  for_each_lane("match.any.sync.b64 $w, $d, $w", [](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
    u64 same = 0;
    for (u32 i = 0; i < 32; ++i) same |= u64{s[0][i] == s[0][lane]} << i;
    EXPECT_EQ(d[0][lane], same & mask);
  });
}

TEST(Match, TellsWhetherAllLanesAgree) {
  const Instruction instruction("match.all.sync.b32 $w|$p, $w, -1");
  Bench bench(instruction);
  WarpWords sources = {std::vector<u64>(32, 5)};
  sources[0][9] = 6;
  EXPECT_EQ(bench.run(sources, {})[0][0], 0u);
  EXPECT_EQ(bench.run(sources, {})[1][0], 0u);
  const u32 without_nine = ~(1u << 9);
  const WarpWords agreed = bench.run(sources, {.mask = without_nine});
  EXPECT_EQ(agreed[0][0], without_nine);
  EXPECT_EQ(agreed[1][0], 1u);
}

TEST(Redux, CombinesTheLanesThatTakePart) {
  using Combine = std::function<u32(u32, u32)>;
  const std::map<std::string, Combine> forms = {
      {"add.u32", [](u32 a, u32 b) { return a + b; }},
      {"add.s32", [](u32 a, u32 b) { return a + b; }},
      {"min.u32", [](u32 a, u32 b) { return std::min(a, b); }},
      {"max.u32", [](u32 a, u32 b) { return std::max(a, b); }},
      {"min.s32", [](u32 a, u32 b) { return static_cast<u32>(std::min(static_cast<s32>(a), static_cast<s32>(b))); }},
      {"max.s32", [](u32 a, u32 b) { return static_cast<u32>(std::max(static_cast<s32>(a), static_cast<s32>(b))); }},
      {"and.b32", [](u32 a, u32 b) { return a & b; }},
      {"or.b32", [](u32 a, u32 b) { return a | b; }},
      {"xor.b32", [](u32 a, u32 b) { return a ^ b; }}};
  for (const auto& [name, combine] : forms)
    for_each_lane("redux.sync." + name + " $w, $w, $w", [&](const WarpWords& s, const WarpWords& d, u32 mask, u32 lane) {
      bool first = true;
      u32 expected = 0;
      for (u32 i = 0; i < 32; ++i) {
        if (!(mask >> i & 1)) continue;
        expected = first ? static_cast<u32>(s[0][i]) : combine(expected, static_cast<u32>(s[0][i]));
        first = false;
      }
      EXPECT_EQ(d[0][lane], expected) << name;
    });
}

TEST(Elect, ChoosesTheLowestLane) {
  for_each_lane("elect.sync $w|$p, $w", [](const WarpWords&, const WarpWords& d, u32 mask, u32 lane) {
    const u32 leader = static_cast<u32>(std::countr_zero(mask));
    EXPECT_EQ(d[0][lane], leader);
    EXPECT_EQ(d[1][lane], u64{lane == leader});
  });
  for_each_lane("elect.sync _|$p, $w", [](const WarpWords&, const WarpWords& d, u32 mask, u32 lane) {
    EXPECT_EQ(d[0][lane], u64{lane == static_cast<u32>(std::countr_zero(mask))});
  });
}

TEST(ActiveMask, IsTheLanesThatRun) {
  Bench bench(Instruction("activemask.b32 $w"));
  const WarpWords d = bench.run({}, {.mask = 0x0ff0});
  EXPECT_EQ(d[0][4], 0x0ff0u);
  EXPECT_EQ(bench.op().control, Control::none);
}

TEST(CreatePolicy, WritesSomePolicy) {
  Bench bench(Instruction("createpolicy.fractional.L2::evict_last.b64 $d, 1"));
  EXPECT_FALSE(bench.run({}, {}).empty()) << bench.error();
}

TEST(Mov, ReadsSpecialRegistersInBothWidths) {
  Bench narrow(Instruction("mov.u32 $w, %laneid")), wide(Instruction("mov.u64 $d, %clock64"));
  EXPECT_EQ(narrow.run({}, {})[0][13], 13u);
  EXPECT_EQ(wide.run({}, {})[0][13], (u64{2} << 33) + 13);
}

// What is not implemented is refused by name, never ignored.
TEST(Decoding, NamesWhatItRefuses) {
  const std::map<std::string, std::string> refused = {
      {"add.cc.u32 $w, $w, $w", "modifier .cc"},
      {"add.f32x2 $d, $d, $d", "no type modifier"},
      {"add.rn.bogus.f32 $w, $w, $w", "modifier .bogus"},
      {"mul.u32 $w, $w, $w", ".lo, .hi or .wide"},
      {"setp.lo.f32 $p, $w, $w", "no comparison"},
      {"add.u32 $w, $d, $w", "does not fit type .u32"},
      {"add.u32 $w, $w", "expected 3 operands"},
      {"mov.u32 $w, %envreg3", "special register %envreg3"},
      {"cvt.s32.f32 $w, $w", ".rni, .rzi"},
      {"shfl.up.b32 $w, $w, 1, 0", ".sync"},
      {"lop3.b32 $w, $w, $w, $w, $w", "constant"},
      {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {$w}, {$w}, {$w}, {$w}", "not implemented"},
  };
  for (const auto& [text, reason] : refused) {
    const Instruction instruction(text);
    Bench bench(instruction);
    EXPECT_TRUE(bench.run(WarpWords(instruction.sources(), std::vector<u64>(32)), {}).empty()) << text;
    EXPECT_NE(bench.error().find(reason), std::string::npos) << text << ": " << bench.error();
  }
}

}  // namespace
}  // namespace onelaunch::emu::bench
