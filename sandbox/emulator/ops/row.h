#pragma once
// Row functions: one operation over the 32 lanes of a warp. An operation is a class made from the DecodedOp (for its
// immediates) whose call operator computes one lane; fns<Op>() gives its full and masked instances.
//
// A destination row either is one of the source rows or overlaps none of them, so lane i may be written once lane i
// has been read: that is what `ivdep` states.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sandbox/emulator/exec/warp.h"
#include "sandbox/emulator/ops/forms.h"
#include "sandbox/emulator/ops/level.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using ops::OpFns;

constexpr int kLanes = 32;

// What one lane of a value of type T takes in a row: values below 32 bits are zero-extended to a 32-bit cell.
template <class T>
using Cell = std::conditional_t<sizeof(T) == 8, u64, u32>;

template <class T>
inline T from_cell(Cell<T> cell) {
  if constexpr (sizeof(T) == sizeof(Cell<T>)) return std::bit_cast<T>(cell);
  else return static_cast<T>(cell);
}

template <class T>
inline Cell<T> to_cell(T value) {
  if constexpr (sizeof(T) == sizeof(Cell<T>)) return std::bit_cast<Cell<T>>(value);
  else if constexpr (std::is_signed_v<T>) return static_cast<u16>(value);  // an s8 fills its 16-bit register
  else return value;
}

template <class C>
struct LaneBits {
  C bit[kLanes];
};
template <class C>
constexpr LaneBits<C> make_lane_bits() {
  LaneBits<C> bits{};
  for (int i = 0; i < kLanes; ++i) bits.bit[i] = C{1} << i;
  return bits;
}
// A table, because the vectors of the portable level cannot shift by lane.
template <class C>
alignas(64) inline constexpr LaneBits<C> kLaneBits = make_lane_bits<C>();

template <bool full, class C>
inline void put(C* row, int lane, C value, u32 mask) {
  if constexpr (full) {
    row[lane] = value;
  } else {
    const C old = row[lane];
    row[lane] = (C{mask} & kLaneBits<C>.bit[lane]) != 0 ? value : old;
  }
}

// Base of operations without immediates.
struct Stateless {
  explicit Stateless(const DecodedOp&) {}
};

template <class Op, bool full, class R, class A>
inline void run_lanes(R (Op::*)(A) const, Warp& warp, const DecodedOp& op, u32 mask) {
  const Op compute(op);
  const Cell<A>* const a = warp.row<Cell<A>>(op.a);
  Cell<R>* const to = warp.row_to_write<Cell<R>>(op.dst);
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) put<full>(to, i, to_cell<R>(compute(from_cell<A>(a[i]))), mask);
}

template <class Op, bool full, class R, class A, class B>
inline void run_lanes(R (Op::*)(A, B) const, Warp& warp, const DecodedOp& op, u32 mask) {
  const Op compute(op);
  const Cell<A>* const a = warp.row<Cell<A>>(op.a);
  const Cell<B>* const b = warp.row<Cell<B>>(op.b);
  Cell<R>* const to = warp.row_to_write<Cell<R>>(op.dst);
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i)
    put<full>(to, i, to_cell<R>(compute(from_cell<A>(a[i]), from_cell<B>(b[i]))), mask);
}

template <class Op, bool full, class R, class A, class B, class C>
inline void run_lanes(R (Op::*)(A, B, C) const, Warp& warp, const DecodedOp& op, u32 mask) {
  const Op compute(op);
  const Cell<A>* const a = warp.row<Cell<A>>(op.a);
  const Cell<B>* const b = warp.row<Cell<B>>(op.b);
  const Cell<C>* const c = warp.row<Cell<C>>(op.c);
  Cell<R>* const to = warp.row_to_write<Cell<R>>(op.dst);
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i)
    put<full>(to, i, to_cell<R>(compute(from_cell<A>(a[i]), from_cell<B>(b[i]), from_cell<C>(c[i]))), mask);
}

// Flattened: a call left in the loop would keep it from vectorising.
template <class Op, bool full>
[[gnu::flatten]] void row_op(Warp& warp, const DecodedOp& op, u32 mask) {
  run_lanes<Op, full>(&Op::operator(), warp, op, mask);
}

template <class Op>
constexpr OpFns fns() {
  return {&row_op<Op, true>, &row_op<Op, false>};
}

// One instance for both, for operations too rare to be worth two.
template <class Op>
constexpr OpFns rare_fns() {
  return {&row_op<Op, false>, &row_op<Op, false>};
}

// An operation that is one template over the integer type.
template <template <class> class Op>
OpFns fns_of_integer(ops::Type type) {
  using ops::Type;
  switch (type) {
    case Type::u16: return fns<Op<u16>>();
    case Type::s16: return fns<Op<s16>>();
    case Type::u32: return fns<Op<u32>>();
    case Type::s32: return fns<Op<s32>>();
    case Type::u64: return fns<Op<u64>>();
    default: return fns<Op<s64>>();
  }
}

// The same for the untyped bits of a register; signs do not matter.
template <template <class> class Op>
OpFns fns_of_bits(ops::Type type) {
  switch (ops::type_bits(type)) {
    case 16: return fns<Op<u16>>();
    case 32: return fns<Op<u32>>();
    default: return fns<Op<u64>>();
  }
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
