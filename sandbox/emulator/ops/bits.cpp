// Bitwise logic, shifts and counts.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::Request;
using ops::Type;

template <class T>
struct And : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

template <class T>
struct Or : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

template <class T>
struct Xor : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

template <class T>
struct Not : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const { return static_cast<T>(~a); }
};

template <class T>
struct LogicalNot : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const { return a == 0 ? T{1} : T{0}; }
};

// Amounts are unsigned 32-bit; those of the width or more shift everything out.
template <class T>
struct ShiftLeft : Stateless {
  using Stateless::Stateless;
  T operator()(T a, u32 by) const {
    constexpr u32 kWidth = 8 * sizeof(T);
    const T shifted = static_cast<T>(a << (by & (kWidth - 1)));
    return by < kWidth ? shifted : T{0};
  }
};

template <class T>
struct ShiftRight : Stateless {
  using Stateless::Stateless;
  T operator()(T a, u32 by) const {
    constexpr u32 kWidth = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (by < kWidth ? by : kWidth - 1));
    } else {
      const T shifted = static_cast<T>(a >> (by & (kWidth - 1)));
      return by < kWidth ? shifted : T{0};
    }
  }
};

// One amount for all lanes, known to be below the width: plain vector shifts.
template <class T>
struct ShiftLeftBy {
  u32 by;
  explicit ShiftLeftBy(const DecodedOp& op) : by(op.extra) {}
  T operator()(T a) const { return static_cast<T>(a << by); }
};

template <class T>
struct ShiftRightBy {
  u32 by;
  explicit ShiftRightBy(const DecodedOp& op) : by(op.extra) {}
  T operator()(T a) const { return static_cast<T>(a >> by); }
};

// extra: 1 wraps the amount at 32, 0 clamps it.
struct FunnelLeft {
  bool wrap;
  explicit FunnelLeft(const DecodedOp& op) : wrap(op.extra != 0) {}
  u32 operator()(u32 low, u32 high, u32 by) const {
    const u32 n = wrap ? by & 31 : by < 32 ? by : 32;
    return static_cast<u32>(((u64{high} << 32 | low) << n) >> 32);
  }
};

struct FunnelRight {
  bool wrap;
  explicit FunnelRight(const DecodedOp& op) : wrap(op.extra != 0) {}
  u32 operator()(u32 low, u32 high, u32 by) const {
    const u32 n = wrap ? by & 31 : by < 32 ? by : 32;
    return static_cast<u32>((u64{high} << 32 | low) >> n);
  }
};

template <class T>
struct CountOnes : Stateless {
  using Stateless::Stateless;
  u32 operator()(T a) const { return static_cast<u32>(std::popcount(a)); }
};

template <class T>
struct CountLeadingZeros : Stateless {
  using Stateless::Stateless;
  u32 operator()(T a) const { return static_cast<u32>(std::countl_zero(a)); }
};

template <class T>
struct ReverseBits : Stateless {
  using Stateless::Stateless;
  T operator()(T a) const {
    T bits = a;
    bits = static_cast<T>((bits >> 1 & static_cast<T>(0x5555555555555555u)) |
                          (bits & static_cast<T>(0x5555555555555555u)) << 1);
    bits = static_cast<T>((bits >> 2 & static_cast<T>(0x3333333333333333u)) |
                          (bits & static_cast<T>(0x3333333333333333u)) << 2);
    bits = static_cast<T>((bits >> 4 & static_cast<T>(0x0f0f0f0f0f0f0f0fu)) |
                          (bits & static_cast<T>(0x0f0f0f0f0f0f0f0fu)) << 4);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(bits);
    else return __builtin_bswap32(bits);
  }
};

template <template <class> class Op>
Result<DecodedOp> make_binary(Request& request) {
  return make_op(request, fns_of_bits<Op>(request.type), request.type, {request.type, request.type});
}

template <template <class> class Op>
Result<DecodedOp> make_unary(Request& request) {
  return make_op(request, fns_of_bits<Op>(request.type), request.type, {request.type});
}

// The amount when it is one constant below the width.
std::optional<u32> constant_amount(const Request& request) {
  if (request.instruction.operands.size() != 3) return std::nullopt;
  const LoweredOperand& amount = request.instruction.operands[2];
  const u32 by = static_cast<u32>(amount.value);
  if (!amount.constant || by >= static_cast<u32>(type_bits(request.type))) return std::nullopt;
  return by;
}

Result<DecodedOp> make_uniform_shift(const Request& request, OpFns fns, u32 by) {
  ops::OperandReader reader(request);
  DecodedOp op = ops::start_op(fns, CostClass::alu);
  op.dst = reader.destination(0, request.type);
  op.a = reader.source(1, request.type);
  op.extra = by;
  return reader.finish(op);
}

Result<DecodedOp> make_shl(Request& request) {
  const Type type = request.type;
  if (const std::optional<u32> by = constant_amount(request))
    return make_uniform_shift(request, fns_of_bits<ShiftLeftBy>(type), *by);
  return make_op(request, fns_of_bits<ShiftLeft>(type), type, {type, Type::u32});
}

// b types shift in zeros, like u types.
Type sign_of_bits(Type type) {
  if (type == Type::b16) return Type::u16;
  if (type == Type::b32) return Type::u32;
  return type == Type::b64 ? Type::u64 : type;
}

Result<DecodedOp> make_shr(Request& request) {
  const Type type = sign_of_bits(request.type);
  if (const std::optional<u32> by = constant_amount(request))
    return make_uniform_shift(request, fns_of_integer<ShiftRightBy>(type), *by);
  return make_op(request, fns_of_integer<ShiftRight>(type), type, {type, Type::u32});
}

Result<DecodedOp> make_shf(Request& request) {
  const std::string_view direction = request.modifiers.take_one_of({"l", "r"});
  const std::string_view mode = request.modifiers.take_one_of({"wrap", "clamp"});
  if (direction.empty() || mode.empty()) return invalid("needs .l or .r and .wrap or .clamp");
  return make_op(request, direction == "l" ? fns<FunnelLeft>() : fns<FunnelRight>(), Type::b32,
                 {Type::b32, Type::b32, Type::u32}, CostClass::alu, mode == "wrap");
}

template <template <class> class Op>
OpFns fns_of_two(Type type) {
  return is_wide(type) ? fns<Op<u64>>() : fns<Op<u32>>();
}

template <template <class> class Op>
Result<DecodedOp> make_count_two(Request& request) {
  return make_op(request, fns_of_two<Op>(request.type), Type::u32, {request.type});
}

Result<DecodedOp> make_brev(Request& request) {
  return make_op(request, fns_of_two<ReverseBits>(request.type), request.type, {request.type});
}

constexpr ops::TypeSet kBits = {Type::b16, Type::b32, Type::b64};
constexpr ops::TypeSet kTwoBits = {Type::b32, Type::b64};
constexpr ops::TypeSet kShifted = {Type::b16, Type::u16, Type::s16, Type::b32, Type::u32,
                                   Type::s32, Type::b64, Type::u64, Type::s64};

constexpr Form kForms[] = {
    {"and", kBits, make_binary<And>},
    {"or", kBits, make_binary<Or>},
    {"xor", kBits, make_binary<Xor>},
    {"not", kBits, make_unary<Not>},
    {"cnot", kBits, make_unary<LogicalNot>},
    {"shl", kBits, make_shl},
    {"shr", kShifted, make_shr},
    {"shf", {Type::b32}, make_shf},
    {"popc", kTwoBits, make_count_two<CountOnes>},
    {"clz", kTwoBits, make_count_two<CountLeadingZeros>},
    {"brev", kTwoBits, make_brev},
};

}  // namespace

FormSpan bit_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
