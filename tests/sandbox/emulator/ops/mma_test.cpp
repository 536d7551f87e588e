// mma against the measured rule, written again with exact integers of any size a double can hold, and against facts
// probed on an H200.

#include <gtest/gtest.h>

#include "tests/sandbox/emulator/ops/cases.h"
#include "tests/sandbox/emulator/ops/operand_words.h"
#include "tests/sandbox/emulator/ops/surroundings.h"

namespace onelaunch::emu::bench {
namespace {

constexpr int kRows = 16, kColumns = 8;

struct Format {
  std::string type;
  int fraction, exponent, in_register;
};
const Format kBf16 = {"bf16", 7, 8, 2}, kF16 = {"f16", 10, 5, 2}, kTf32 = {"tf32", 10, 8, 1};

std::string vector(int count) {
  std::string text = "{$w";
  for (int i = 1; i < count; ++i) text += ", $w";
  return text + "}";
}

// One mma with elements by place: a[row][k], b[k][column] and c, d[row][column] are codes.
struct Mma {
  Format format;
  int depth;
  std::vector<std::vector<u64>> a, b, c;

  Mma(const Format& f, int k)
      : format(f), depth(k), a(kRows, std::vector<u64>(static_cast<std::size_t>(k))),
        b(static_cast<std::size_t>(k), std::vector<u64>(kColumns)), c(kRows, std::vector<u64>(kColumns)) {}

  int per_a() const { return kRows * depth / 32 / format.in_register; }
  int per_b() const { return kColumns * depth / 32 / format.in_register; }
  std::string text() const {
    const std::string t = "." + format.type;
    return "mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col.f32" + t + t + ".f32 " + vector(4) + ", " +
           vector(per_a()) + ", " + vector(per_b()) + ", " + vector(4);
  }

  // Where lane and register lie, in the words of the ISA: group = lane / 4, in group = lane % 4.
  u64 packed(const std::function<u64(int)>& element) const {
    u64 word = 0;
    for (int i = 0; i < format.in_register; ++i)
      word |= format.in_register == 1 ? element(i) << 13 : element(i) << (16 * i);
    return word;
  }
  WarpWords words() const {
    WarpWords result;
    for (int reg = 0; reg < per_a(); ++reg) {
      result.emplace_back();
      for (int lane = 0; lane < 32; ++lane)
        result.back().push_back(packed([&](int i) {
          const int row = lane / 4 + (reg % 2) * 8, k = lane % 4 * format.in_register + (reg / 2) * 4 * format.in_register + i;
          return a[static_cast<std::size_t>(row)][static_cast<std::size_t>(k)];
        }));
    }
    for (int reg = 0; reg < per_b(); ++reg) {
      result.emplace_back();
      for (int lane = 0; lane < 32; ++lane)
        result.back().push_back(packed([&](int i) {
          const int k = lane % 4 * format.in_register + reg * 4 * format.in_register + i;
          return b[static_cast<std::size_t>(k)][static_cast<std::size_t>(lane / 4)];
        }));
    }
    for (int reg = 0; reg < 4; ++reg) {
      result.emplace_back();
      for (int lane = 0; lane < 32; ++lane)
        result.back().push_back(
            c[static_cast<std::size_t>(lane / 4 + reg / 2 * 8)][static_cast<std::size_t>(lane % 4 * 2 + reg % 2)]);
    }
    return result;
  }
  std::vector<std::vector<u64>> run(ops::Level level) const {
    Bench bench{Instruction(text())};
    const WarpWords d = bench.run(words(), {.level = level});
    EXPECT_FALSE(d.empty()) << text() << ": " << bench.error();
    std::vector<std::vector<u64>> result(kRows, std::vector<u64>(kColumns));
    for (std::size_t reg = 0; reg < d.size(); ++reg)
      for (std::size_t lane = 0; lane < 32; ++lane)
        result[lane / 4 + reg / 2 * 8][lane % 4 * 2 + reg % 2] = d[reg][lane];
    return result;
  }
};

// A finite number as significand times 2^exponent; `top` is the exponent of its leading bit's place, not normalised.
struct Number {
  __int128 significand;
  int exponent, top;
};

Number number_of(u64 code, int fraction_bits, int exponent_bits) {
  const int field = static_cast<int>(code >> fraction_bits & ((1u << exponent_bits) - 1)), bias = (1 << (exponent_bits - 1)) - 1;
  const s64 fraction = static_cast<s64>(code & ((u64{1} << fraction_bits) - 1));
  const s64 magnitude = field ? fraction + (s64{1} << fraction_bits) : fraction;
  const int top = (field ? field : 1) - bias;
  return {code >> (fraction_bits + exponent_bits) & 1 ? -magnitude : magnitude, top - fraction_bits, top};
}

__int128 cut_to(__int128 significand, int exponent, int unit) {
  const int up = exponent - unit;
  if (up >= 0) return significand << up;
  if (up < -100) return 0;
  return significand / (static_cast<__int128>(1) << -up);  // toward zero
}

// To float, toward zero; infinite beyond the range.
u64 float_toward_zero(__int128 significand, int exponent) {
  if (significand == 0) return 0;
  const u64 sign = significand < 0 ? 0x80000000u : 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(significand < 0 ? -significand : significand);
  int bits = 0;
  while (magnitude >> bits != 0) ++bits;
  const int leading = exponent + bits - 1;
  if (leading > 127) return sign | 0x7f800000;
  const int unit = std::max(leading, -126) - 23;
  const int down = unit - exponent;
  magnitude = down >= 0 ? (down < 127 ? magnitude >> down : 0) : magnitude << -down;
  const u64 field = leading < -126 ? 0 : static_cast<u64>(leading + 126);
  return sign | ((field << 23) + static_cast<u64>(magnitude));
}

u64 expected_sum(const Mma& m, std::size_t row, std::size_t column) {
  std::vector<Number> terms = {number_of(m.c[row][column], 23, 8)};
  for (std::size_t k = 0; k < static_cast<std::size_t>(m.depth); ++k) {
    const Number x = number_of(m.a[row][k], m.format.fraction, m.format.exponent);
    const Number y = number_of(m.b[k][column], m.format.fraction, m.format.exponent);
    terms.push_back({x.significand * y.significand, x.exponent + y.exponent, x.top + y.top});
  }
  int top = -10000;
  for (const Number& term : terms)
    if (term.significand != 0) top = std::max(top, term.top);
  __int128 sum = 0;
  for (const Number& term : terms) sum += cut_to(term.significand, term.exponent, top - 25);
  return float_toward_zero(sum, top - 25);
}

u64 drawn(u64& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

// Random codes of the format with exponents within `spread` of `middle`.
u64 drawn_code(u64& state, int fraction_bits, int exponent_bits, int middle, int spread) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 2;
  const int offset = static_cast<int>(drawn(state) % static_cast<u64>(spread)) - spread / 2;
  const int field = std::min(std::max(bias + middle + offset, 0), top);
  const u64 code = static_cast<u64>(field) << fraction_bits | (drawn(state) & ((u64{1} << fraction_bits) - 1));
  const u64 sign = drawn(state) & 1;
  return drawn(state) % 9 == 0 ? sign << (fraction_bits + exponent_bits)
                               : sign << (fraction_bits + exponent_bits) | code;
}

void expect_rule(const Format& format, int depth, int middle) {
  u64 state = static_cast<u64>(depth * 1000 + middle + format.fraction);
  for (int spread = 1; spread <= 40; spread += 3) {
    Mma m(format, depth);
    for (auto& row : m.a) for (u64& x : row) x = drawn_code(state, format.fraction, format.exponent, middle, spread);
    for (auto& row : m.b) for (u64& x : row) x = drawn_code(state, format.fraction, format.exponent, middle, spread);
    for (auto& row : m.c) for (u64& x : row) x = drawn_code(state, 23, 8, 2 * middle, spread);
    for (const ops::Level level : levels()) {
      const auto d = m.run(level);
      for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t column = 0; column < kColumns; ++column)
          ASSERT_EQ(d[row][column], expected_sum(m, row, column))
              << m.text() << " spread " << spread << " around " << middle << ", row " << row << " column " << column;
    }
  }
}

TEST(Mma, FollowsTheMeasuredRuleForRandomNumbers) {
  for (const int middle : {0, -4, 5}) {
    expect_rule(kBf16, 16, middle);
    expect_rule(kBf16, 8, middle);
    expect_rule(kF16, 16, middle);
    expect_rule(kF16, 8, middle);
    expect_rule(kTf32, 8, middle);
    expect_rule(kTf32, 4, middle);
  }
}

TEST(Mma, FollowsItForSubnormalAndHugeResults) {
  for (const int middle : {-120, -66, -60, 58, 62}) {
    expect_rule(kBf16, 16, middle);
    expect_rule(kTf32, 8, middle);
  }
  expect_rule(kF16, 16, -14);
}

u64 bf16_code(double value) { return nearest_half(value, true); }

// d[0][0] of products of row 0 with ones, and c.
u64 probe(const std::vector<std::pair<double, double>>& products, float c) {
  Mma m(kBf16, 16);
  for (std::size_t k = 0; k < products.size(); ++k) {
    m.a[0][k] = bf16_code(products[k].first);
    m.b[k][0] = bf16_code(products[k].second);
  }
  m.c[0][0] = std::bit_cast<u32>(c);
  return m.run(levels().back())[0][0];
}

u64 bits(double value) { return std::bit_cast<u32>(static_cast<float>(value)); }

TEST(Mma, AgreesWithWhatWasProbedOnAnH200) {
  for (int j = 1; j <= 25; ++j) {
    EXPECT_EQ(probe({{1, 1}, {-1, 1}, {std::ldexp(1, -j), 1}}, 0), bits(std::ldexp(1, -j))) << j;
    EXPECT_EQ(probe({{-1, 1}, {std::ldexp(1, -j), 1}}, 1), bits(std::ldexp(1, -j))) << j;
  }
  EXPECT_EQ(probe({{1, 1}, {-1, 1}, {0x1p-26, 1}}, 0), 0u);
  EXPECT_EQ(probe({{1, 1}, {1.5, 0x1p-24}}, 0), bits(1));
  EXPECT_EQ(probe({{1, 1}, {-0x1p-26, 1}}, 0), bits(1));
  EXPECT_EQ(probe({{1, 1}, {-1, 1}, {-1.5, 0x1p-25}}, 0), bits(-0x1p-25));
  EXPECT_EQ(probe({{1, 1}, {0x1p-24, 1}, {0x1p-24, 1}}, 0), bits(1 + 0x1p-23));
  EXPECT_EQ(probe({{3, 1}, {0x1p-23, 1}}, 0), bits(3));
}

TEST(Mma, GivesTheSmallTermItsWeightAtEveryPlace) {
  for (std::size_t place = 2; place < 16; ++place) {
    std::vector<std::pair<double, double>> products(16, {0, 0});
    products[0] = {1, 1};
    products[1] = {-1, 1};
    products[place] = {0x1p-25, 1};
    EXPECT_EQ(probe(products, 0), bits(0x1p-25)) << place;
  }
}

TEST(Mma, TurnsInvalidSumsIntoTheOneNaN) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(probe({{inf, 1}}, 0), 0x7f800000u);
  EXPECT_EQ(probe({{inf, -2}}, 3), 0xff800000u);
  EXPECT_EQ(probe({{inf, 0}}, 0), 0x7fffffffu);
  EXPECT_EQ(probe({{inf, 1}, {-inf, 1}}, 0), 0x7fffffffu);
  EXPECT_EQ(probe({{inf, 1}}, -std::numeric_limits<float>::infinity()), 0x7fffffffu);
  EXPECT_EQ(probe({{std::nan(""), 1}}, 0), 0x7fffffffu);
}

TEST(Mma, NeedsTheWholeWarp) {
  const Mma m(kBf16, 16);
  Bench bench{Instruction(m.text())};
  faults().clear();
  bench.run(m.words(), {.mask = 0x7fffffff});
  ASSERT_EQ(faults().size(), 1u);
  EXPECT_NE(faults()[0].find("32 lanes"), std::string::npos);
}

s64 byte_of(u64 word, int i, bool with_sign) {
  const s64 byte = static_cast<s64>(word >> (8 * i) & 255);
  return with_sign && byte > 127 ? byte - 256 : byte;
}

void expect_integers(int depth, bool a_signed, bool b_signed, bool satfinite, u64 c_word) {
  const std::string types = std::string(".s32.") + (a_signed ? "s8." : "u8.") + (b_signed ? "s8" : "u8") + ".s32 ";
  const int a_count = depth / 8, b_count = depth / 16;
  const Instruction instruction("mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col" +
                                (satfinite ? ".satfinite" : "") + types + vector(4) + ", " + vector(a_count) + ", " +
                                vector(b_count) + ", " + vector(4));
  WarpWords words(static_cast<std::size_t>(a_count + b_count), std::vector<u64>(32));
  u64 state = 5;
  for (auto& lanes : words) for (u64& word : lanes) word = (drawn(state) ^ drawn(state) << 16) & 0xffffffff;
  for (int i = 0; i < 4; ++i) words.emplace_back(32, c_word);
  for (const ops::Level level : levels()) {
    Bench bench(instruction);
    const WarpWords d = bench.run(words, {.level = level});
    ASSERT_FALSE(d.empty()) << bench.error();
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column) {
        s64 sum = static_cast<s32>(c_word);
        for (int k = 0; k < depth; ++k) {
          const std::size_t a_reg = static_cast<std::size_t>(k / 16 * 2 + row / 8), b_reg = static_cast<std::size_t>(k / 16);
          const std::size_t a_lane = static_cast<std::size_t>(row % 8 * 4 + k % 16 / 4);
          const std::size_t b_lane = static_cast<std::size_t>(column * 4 + k % 16 / 4);
          sum += byte_of(words[a_reg][a_lane], k % 4, a_signed) *
                 byte_of(words[static_cast<std::size_t>(a_count) + b_reg][b_lane], k % 4, b_signed);
        }
        if (satfinite) sum = std::min<s64>(std::max<s64>(sum, std::numeric_limits<s32>::min()), std::numeric_limits<s32>::max());
        const std::size_t reg = static_cast<std::size_t>(row / 8 * 2 + column % 2);
        EXPECT_EQ(d[reg][static_cast<std::size_t>(row % 8 * 4 + column / 2)], static_cast<u32>(sum)) << instruction.text();
      }
  }
}

TEST(Mma, AddsBytesExactlyAndWrapsOrSaturates) {
  for (const int depth : {16, 32})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        for (const bool satfinite : {false, true})
          for (const u64 c : {0x00000000u, 0x7fffff00u, 0x80000010u}) expect_integers(depth, a, b, satfinite, c);
}

}  // namespace
}  // namespace onelaunch::emu::bench
