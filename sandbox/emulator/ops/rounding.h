#pragma once
// Rounding modes of PTX, and rows computed under one of them.

#include <immintrin.h>

#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

enum class Rounding { rn, rz, rm, rp };

// Sets the processor's rounding mode for a row. The barriers keep loads and stores of rows, and so the arithmetic
// between them, inside the scope.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : saved_(_mm_getcsr()) {
    constexpr u32 kBits[] = {0x0000, 0x6000, 0x2000, 0x4000};
    _mm_setcsr((saved_ & ~0x6000u) | kBits[static_cast<int>(rounding)]);
    asm volatile("" ::: "memory");
  }
  ~RoundingScope() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  u32 saved_;
};

template <class Op, Rounding rounding>
[[gnu::flatten]] void rounded_row_op(Warp& warp, const DecodedOp& op, u32 mask) {
  const RoundingScope scope(rounding);
  run_lanes<Op, false>(&Op::operator(), warp, op, mask);
}

// fns<Op>() under a rounding mode. Op must be basic arithmetic, which obeys the processor's mode.
template <class Op>
OpFns rounded_fns(Rounding rounding) {
  switch (rounding) {
    case Rounding::rn: return fns<Op>();
    case Rounding::rz: return {&rounded_row_op<Op, Rounding::rz>, &rounded_row_op<Op, Rounding::rz>};
    case Rounding::rm: return {&rounded_row_op<Op, Rounding::rm>, &rounded_row_op<Op, Rounding::rm>};
    default: return {&rounded_row_op<Op, Rounding::rp>, &rounded_row_op<Op, Rounding::rp>};
  }
}

inline Rounding take_rounding(Modifiers& modifiers) {
  const std::string_view name = modifiers.take_one_of({"rn", "rz", "rm", "rp"});
  if (name == "rz") return Rounding::rz;
  if (name == "rm") return Rounding::rm;
  return name == "rp" ? Rounding::rp : Rounding::rn;
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
