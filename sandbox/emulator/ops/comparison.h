#pragma once
// Comparisons reduced to a few: every PTX comparison is one of the base tests, perhaps with its operands swapped or
// its answer inverted.

#include <optional>

#include "sandbox/emulator/ops/half_policies.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

enum class Test { equal, less, less_or_equal, ordered_not_equal, ordered };

struct Comparison {
  Test test;
  bool swapped, inverted;
};

// By the PTX name ("ltu"), for integers or floats; nothing if there is no such comparison.
std::optional<Comparison> integer_comparison(std::string_view name);
std::optional<Comparison> float_comparison(std::string_view name);
// Takes the comparison from the modifiers.
std::optional<Comparison> take_comparison(Modifiers& modifiers, ops::Type type);

// How the boolean result of a comparison is combined and where it goes, in DecodedOp::extra:
// bit 0 inverts; bits 1-2: none, and, or, xor with predicate c; bit 3: c is negated.
constexpr u32 kInvert = 1, kCombineShift = 1, kNegatedC = 8;
enum class Combine : u32 { none, with_and, with_or, with_xor };

inline u32 combined(const Warp& warp, const DecodedOp& op, u32 lanes) {
  const Combine combine = static_cast<Combine>(op.extra >> kCombineShift & 3);
  if (combine == Combine::none) return lanes;
  const u32 c = warp.predicate(op.c) ^ (op.extra & kNegatedC ? ~0u : 0u);
  if (combine == Combine::with_and) return lanes & c;
  return combine == Combine::with_or ? lanes | c : lanes ^ c;
}

template <Test test, class T>
inline bool holds(T a, T b) {
  if constexpr (test == Test::equal) return a == b;
  else if constexpr (test == Test::less) return a < b;
  else if constexpr (test == Test::less_or_equal) return a <= b;
  else if constexpr (test == Test::ordered_not_equal) return a < b || a > b;
  else return a == a && b == b;
}

// How a cell is read for a comparison.
template <class T>
struct Plain {
  using Row = Cell<T>;
  static T read(Row cell) { return from_cell<T>(cell); }
};
struct FlushedFloat {
  using Row = u32;
  static float read(u32 cell) { return flushed<true>(float_of(cell)); }
};
template <class Half>
struct LowHalf {
  using Row = u32;
  static float read(u32 cell) { return Half::low(cell); }
};
template <class Half>
struct HighHalf {
  using Row = u32;
  static float read(u32 cell) { return Half::high(cell); }
};

// The lanes for which a test holds.
template <class Reader, Test test>
inline u32 lanes_where(const typename Reader::Row* a, const typename Reader::Row* b) {
  using Row = typename Reader::Row;
  Row lanes = 0;
  for (int i = 0; i < kLanes; ++i)
    lanes |= holds<test>(Reader::read(a[i]), Reader::read(b[i])) ? kLaneBits<Row>.bit[i] : Row{0};
  return static_cast<u32>(lanes);
}

// Fns<Reader, test>::fns() for a run-time test. Integers have only the first two.
template <template <class, Test> class Fns, class Reader>
OpFns integer_test_fns(Test test) {
  return test == Test::equal ? Fns<Reader, Test::equal>::fns() : Fns<Reader, Test::less>::fns();
}

template <template <class, Test> class Fns, class Reader>
OpFns float_test_fns(Test test) {
  switch (test) {
    case Test::equal: return Fns<Reader, Test::equal>::fns();
    case Test::less: return Fns<Reader, Test::less>::fns();
    case Test::less_or_equal: return Fns<Reader, Test::less_or_equal>::fns();
    case Test::ordered_not_equal: return Fns<Reader, Test::ordered_not_equal>::fns();
    default: return Fns<Reader, Test::ordered>::fns();
  }
}

// By type; takes .ftz where the type has it.
template <template <class, Test> class Fns>
OpFns test_fns(ops::Type type, Test test, Modifiers& modifiers) {
  using ops::Type;
  switch (type) {
    case Type::b16:
    case Type::u16: return integer_test_fns<Fns, Plain<u16>>(test);
    case Type::s16: return integer_test_fns<Fns, Plain<s16>>(test);
    case Type::b32:
    case Type::u32: return integer_test_fns<Fns, Plain<u32>>(test);
    case Type::s32: return integer_test_fns<Fns, Plain<s32>>(test);
    case Type::b64:
    case Type::u64: return integer_test_fns<Fns, Plain<u64>>(test);
    case Type::s64: return integer_test_fns<Fns, Plain<s64>>(test);
    case Type::f64: return float_test_fns<Fns, Plain<double>>(test);
    case Type::f16:
      return modifiers.take("ftz") ? float_test_fns<Fns, LowHalf<Flushing<F16>>>(test)
                                   : float_test_fns<Fns, LowHalf<F16>>(test);
    case Type::bf16: return float_test_fns<Fns, LowHalf<Bf16>>(test);
    default:
      return modifiers.take("ftz") ? float_test_fns<Fns, FlushedFloat>(test) : float_test_fns<Fns, Plain<float>>(test);
  }
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
