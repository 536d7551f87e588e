// mma of bf16, f16 and tf32 with float sums, bit-true to Hopper's tensor cores: products are exact; the products of
// one output and its c are aligned to the largest exponent E among them, a product's exponent being the sum of its
// operands' (so 1.5 * 1.5 counts as 0); each is cut toward zero to a multiple of 2^(E-25); the exact sum of these is
// rounded toward zero; what is too large for a float is infinite.

#include <cmath>

#include "sandbox/emulator/ops/float_bits.h"
#include "sandbox/emulator/ops/matrix.h"
#include "sandbox/emulator/ops/rounding.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Type;

// A number as significand * 2^(exponent - fraction bits). Zero has an exponent below that of any product.
constexpr s32 kZeroExponent = -1024;

struct Term {
  s32 significand, exponent, sign;  // sign: 0 or -1
  bool special;                     // infinity or NaN
};

struct Bf16Format {
  static constexpr int kFraction = 7, kExponent = 8, kBits = 16;
};
struct F16Format {
  static constexpr int kFraction = 10, kExponent = 5, kBits = 16;
};
struct Tf32Format {  // the upper 19 bits of a float
  static constexpr int kFraction = 10, kExponent = 8, kBits = 19;
};
struct F32Format {
  static constexpr int kFraction = 23, kExponent = 8, kBits = 32;
};

template <class Format>
inline Term term_of(u32 bits) {
  constexpr s32 kTop = (1 << Format::kExponent) - 1, kBias = kTop >> 1;
  const s32 fraction = static_cast<s32>(bits & ((1u << Format::kFraction) - 1u));
  const s32 field = static_cast<s32>(bits >> Format::kFraction) & kTop;
  const s32 significand = field == 0 ? fraction : fraction | 1 << Format::kFraction;
  const s32 exponent = (field == 0 ? 1 : field) - kBias;
  return {significand, significand == 0 ? kZeroExponent : exponent, -static_cast<s32>(bits >> (Format::kBits - 1) & 1),
          field == kTop};
}

// One operand unpacked; the last index is the one that loops run along.
template <int outer, int inner>
struct alignas(64) Terms {
  s32 significand[outer][inner], exponent[outer][inner], sign[outer][inner];
  bool special = false;
  void set(int i, int j, const Term& term) {
    significand[i][j] = term.significand;
    exponent[i][j] = term.exponent;
    sign[i][j] = term.sign;
    special |= term.special;
  }
};

template <class Format, int depth>
struct Operands {
  Terms<kRows, depth> a;
  Terms<depth, kColumns> b;
  Terms<kRows, kColumns> c;
};

// Elements of a register and where they lie along k.
template <class Format>
constexpr int kInRegister = Format::kBits == 16 ? 2 : 1;
template <class Format>
inline u32 element(u32 word, u32 i) {
  if constexpr (Format::kBits == 16) return word >> (16 * i) & 0xffffu;
  else return word >> 13;
}
template <class Format>
inline int position(u32 lane, u32 half, u32 i) {
  const u32 step = kInRegister<Format>;
  return static_cast<int>(step * (lane % 4) + 4 * step * half + i);
}

template <class Format, int depth>
void read_operands(const Warp& warp, const DecodedOp& op, Operands<Format, depth>& operands) {
  const MatrixOperand a = operand_a(warp, op), b = operand_b(warp, op), c = operand_c(warp, op);
  const MatrixRegisters n = matrix_registers(op);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const int row = static_cast<int>(lane / 4);
    for (u32 reg = 0; reg < n.a; ++reg)
      for (u32 i = 0; i < kInRegister<Format>; ++i)
        operands.a.set(row + 8 * static_cast<int>(reg & 1), position<Format>(lane, reg >> 1, i),
                       term_of<Format>(element<Format>(a.word(reg, lane), i)));
    for (u32 reg = 0; reg < n.b; ++reg)
      for (u32 i = 0; i < kInRegister<Format>; ++i)
        operands.b.set(position<Format>(lane, reg, i), row, term_of<Format>(element<Format>(b.word(reg, lane), i)));
    for (u32 reg = 0; reg < 4; ++reg)
      operands.c.set(accumulator_row(reg, lane), accumulator_column(reg, lane), term_of<F32Format>(c.word(reg, lane)));
  }
}

// The eight sums of one row.
template <class Format, int depth>
[[gnu::noinline]] void sum_row(const Operands<Format, depth>& operands, int row, float* out) {
  constexpr int kUp = 25 - 2 * Format::kFraction;  // a product in units of 2^(its exponent - 25)
  alignas(64) s32 top[kColumns], first[kColumns], second[kColumns];
  const auto& a = operands.a;
  const auto& b = operands.b;
  const auto& c = operands.c;
  for (int j = 0; j < kColumns; ++j) top[j] = c.exponent[row][j];
  for (int k = 0; k < depth; ++k)
    for (int j = 0; j < kColumns; ++j) {
      const s32 exponent = a.exponent[row][k] + b.exponent[k][j];
      top[j] = top[j] > exponent ? top[j] : exponent;
    }
  for (int j = 0; j < kColumns; ++j) {
    const s32 down = top[j] - c.exponent[row][j];
    const s32 term = c.significand[row][j] << 2 >> (down < 31 ? down : 31);
    first[j] = (term ^ c.sign[row][j]) - c.sign[row][j];
    second[j] = 0;
  }
  // Terms are below 2^27, so eight of them and c fit a sum; the two sums meet in double precision.
  for (int k = 0; k < depth; ++k) {
    s32* const sum = k < 8 ? first : second;
    for (int j = 0; j < kColumns; ++j) {
      const s32 down = top[j] - (a.exponent[row][k] + b.exponent[k][j]);
      const s32 term = (a.significand[row][k] << kUp) * b.significand[k][j] >> (down < 31 ? down : 31);
      const s32 sign = a.sign[row][k] ^ b.sign[k][j];
      sum[j] += (term ^ sign) - sign;
    }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (int j = 0; j < kColumns; ++j) {
    const s32 exponent = top[j] < -900 ? -900 : top[j];
    const double unit = double_of(static_cast<u64>(exponent - 25 + 1023) << 52);
    const double sum = (static_cast<double>(first[j]) + static_cast<double>(second[j])) * unit;
    const double bounded = sum >= 0x1p128 ? infinity : sum;
    out[j] = static_cast<float>(sum <= -0x1p128 ? -infinity : bounded);
  }
}

// With infinities or NaN among the inputs only the kind of each output matters.
template <class Format, int depth>
void replace_specials(const Operands<Format, depth>& operands, float (&d)[kRows][kColumns]) {
  const auto value = [](s32 significand, s32 exponent, s32 sign, int top) {
    const double magnitude = exponent < top ? static_cast<double>(significand != 0)
                             : significand & (significand - 1) ? std::numeric_limits<double>::quiet_NaN()
                                                               : std::numeric_limits<double>::infinity();
    return sign ? -magnitude : magnitude;
  };
  constexpr int kTop = 1 << (Format::kExponent - 1);
  for (int row = 0; row < kRows; ++row)
    for (int j = 0; j < kColumns; ++j) {
      double sum = value(operands.c.significand[row][j], operands.c.exponent[row][j], operands.c.sign[row][j], 128);
      for (int k = 0; k < depth; ++k)
        sum += value(operands.a.significand[row][k], operands.a.exponent[row][k], operands.a.sign[row][k], kTop) *
               value(operands.b.significand[k][j], operands.b.exponent[k][j], operands.b.sign[k][j], kTop);
      if (std::isnan(sum)) d[row][j] = float_of(kNaN32);
      else if (std::isinf(sum)) d[row][j] = static_cast<float>(sum);
    }
}

template <class Format, int depth>
void mma(Warp& warp, const DecodedOp& op, u32 mask) {
  if (!has_all_lanes(warp, op, mask)) return;
  Operands<Format, depth> operands;
  read_operands(warp, op, operands);
  alignas(64) float d[kRows][kColumns];
  {
    const RoundingScope scope(Rounding::rz);
    for (int row = 0; row < kRows; ++row) sum_row(operands, row, d[row]);
    asm volatile("" : : "r"(&d) : "memory");
  }
  if (operands.a.special || operands.b.special || operands.c.special) [[unlikely]]
    replace_specials(operands, d);
  write_accumulator(warp, op, d);
}

}  // namespace

OpFn float_mma(ops::Type type, int k) {
  if (type == Type::bf16 && k == 16) return &mma<Bf16Format, 16>;
  if (type == Type::bf16 && k == 8) return &mma<Bf16Format, 8>;
  if (type == Type::f16 && k == 16) return &mma<F16Format, 16>;
  if (type == Type::f16 && k == 8) return &mma<F16Format, 8>;
  if (type == Type::tf32 && k == 8) return &mma<Tf32Format, 8>;
  if (type == Type::tf32 && k == 4) return &mma<Tf32Format, 4>;
  return nullptr;
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
