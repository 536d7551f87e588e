// Integer products: mul, mad and their 24-bit forms, sad, dot products of bytes.

#include "sandbox/emulator/ops/families.h"
#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

using ops::Form;
using ops::make_op;
using ops::OperandReader;
using ops::Request;
using ops::Type;

template <class T>
struct Double;  // the type twice as wide
template <> struct Double<u16> { using type = u32; };
template <> struct Double<s16> { using type = s32; };
template <> struct Double<u32> { using type = u64; };
template <> struct Double<s32> { using type = s64; };
template <> struct Double<u64> { using type = unsigned __int128; };
template <> struct Double<s64> { using type = __int128; };

template <class T>
inline typename Double<T>::type product(T a, T b) {
  using Wide = typename Double<T>::type;
  if constexpr (std::is_same_v<T, u16>) return u32{a} * u32{b};
  else return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
}

template <class T>
inline T plus(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
}

template <class T>
inline T low_product(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
  return static_cast<T>(static_cast<Bits>(a) * static_cast<Bits>(b));
}

template <class T>
inline T high_product(T a, T b) {
  return static_cast<T>(product<T>(a, b) >> (8 * sizeof(T)));
}

template <class T>
struct MulLow : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return low_product<T>(a, b); }
};

template <class T>
struct MulHigh : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return high_product<T>(a, b); }
};

template <class T>
struct MulWide : Stateless {
  using Stateless::Stateless;
  using Wide = typename Double<T>::type;
  Wide operator()(T a, T b) const { return product<T>(a, b); }
};

template <class T>
struct MadLow : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b, T c) const { return plus<T>(low_product<T>(a, b), c); }
};

template <class T>
struct MadHigh : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b, T c) const { return plus<T>(high_product<T>(a, b), c); }
};

template <class T>
struct MadWide : Stateless {
  using Stateless::Stateless;
  using Wide = typename Double<T>::type;
  Wide operator()(T a, T b, Wide c) const { return plus<Wide>(product<T>(a, b), c); }
};

struct MadHighSaturated : Stateless {
  using Stateless::Stateless;
  s32 operator()(s32 a, s32 b, s32 c) const {
    const s64 sum = s64{high_product<s32>(a, b)} + c;
    const s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
    return static_cast<s32>(sum < low ? low : sum > high ? high : sum);
  }
};

// 24-bit products: 48 bits, of which .lo gives bits 0-31 and .hi bits 16-47.
template <class T>
inline s64 product24(T a, T b) {
  const auto cut = [](T x) { return std::is_signed_v<T> ? s64{static_cast<s32>(static_cast<u32>(x) << 8) >> 8}
                                                        : s64{static_cast<u32>(x) & 0xffffffu}; };
  return cut(a) * cut(b);
}

template <class T, int shift>
struct Mul24 : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b) const { return static_cast<T>(product24<T>(a, b) >> shift); }
};

template <class T, int shift>
struct Mad24 : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b, T c) const { return plus<T>(static_cast<T>(product24<T>(a, b) >> shift), c); }
};

template <class T>
struct SumOfDifferences : Stateless {
  using Stateless::Stateless;
  T operator()(T a, T b, T c) const {
    using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;
    const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
    return plus<T>(c, static_cast<T>(a < b ? y - x : x - y));
  }
};

template <template <class> class Op>
OpFns fns_of_wide(Type type) {
  switch (type) {
    case Type::u16: return fns<Op<u16>>();
    case Type::s16: return fns<Op<s16>>();
    case Type::u32: return fns<Op<u32>>();
    default: return fns<Op<s32>>();
  }
}

Type doubled(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    default: return Type::s64;
  }
}

Result<DecodedOp> make_mul(Request& request) {
  const Type type = request.type;
  const std::string_view part = request.modifiers.take_one_of({"lo", "hi", "wide"});
  if (part == "wide" && !is_wide(type))
    return make_op(request, fns_of_wide<MulWide>(type), doubled(type), {type, type});
  if (part == "hi") return make_op(request, fns_of_integer<MulHigh>(type), type, {type, type});
  if (part == "lo") return make_op(request, fns_of_integer<MulLow>(type), type, {type, type});
  return invalid("needs .lo, .hi or .wide");
}

Result<DecodedOp> make_mad(Request& request) {
  const Type type = request.type;
  const std::string_view part = request.modifiers.take_one_of({"lo", "hi", "wide"});
  if (part == "wide" && !is_wide(type))
    return make_op(request, fns_of_wide<MadWide>(type), doubled(type), {type, type, doubled(type)});
  if (part == "hi" && type == Type::s32 && request.modifiers.take("sat"))
    return make_op(request, fns<MadHighSaturated>(), type, {type, type, type});
  if (part == "hi") return make_op(request, fns_of_integer<MadHigh>(type), type, {type, type, type});
  if (part == "lo") return make_op(request, fns_of_integer<MadLow>(type), type, {type, type, type});
  return invalid("needs .lo, .hi or .wide");
}

Result<DecodedOp> make_mul24(Request& request) {
  const Type type = request.type;
  const bool high = request.modifiers.take_one_of({"lo", "hi"}) == "hi";
  if (type == Type::s32)
    return make_op(request, high ? fns<Mul24<s32, 16>>() : fns<Mul24<s32, 0>>(), type, {type, type});
  return make_op(request, high ? fns<Mul24<u32, 16>>() : fns<Mul24<u32, 0>>(), type, {type, type});
}

Result<DecodedOp> make_mad24(Request& request) {
  const Type type = request.type;
  const bool high = request.modifiers.take_one_of({"lo", "hi"}) == "hi";
  if (type == Type::s32)
    return make_op(request, high ? fns<Mad24<s32, 16>>() : fns<Mad24<s32, 0>>(), type, {type, type, type});
  return make_op(request, high ? fns<Mad24<u32, 16>>() : fns<Mad24<u32, 0>>(), type, {type, type, type});
}

Result<DecodedOp> make_sad(Request& request) {
  const Type type = request.type;
  return make_op(request, fns_of_integer<SumOfDifferences>(type), type, {type, type, type});
}

template <bool is_signed>
inline u32 byte_of(u32 word, int i) {
  const u32 byte = word >> (8 * i) & 0xffu;
  return is_signed ? static_cast<u32>(static_cast<s32>(byte << 24) >> 24) : byte;
}

template <bool is_signed>
inline u32 half_of(u32 word, int i) {
  const u32 half = word >> (16 * i) & 0xffffu;
  return is_signed ? static_cast<u32>(static_cast<s32>(half << 16) >> 16) : half;
}

template <bool a_signed, bool b_signed>
struct Dot4 : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 a, u32 b, u32 c) const {
    u32 sum = c;
    for (int i = 0; i < 4; ++i) sum += byte_of<a_signed>(a, i) * byte_of<b_signed>(b, i);
    return sum;
  }
};

// The two halves of a times bytes 0, 1 (.lo) or 2, 3 (.hi: extra is 2) of b.
template <bool a_signed, bool b_signed>
struct Dot2 {
  u32 shift;
  explicit Dot2(const DecodedOp& op) : shift(op.extra * 8) {}
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 bytes = b >> shift;
    return c + half_of<a_signed>(a, 0) * byte_of<b_signed>(bytes, 0) +
           half_of<a_signed>(a, 1) * byte_of<b_signed>(bytes, 1);
  }
};

template <template <bool, bool> class Dot>
OpFns fns_of_dot(bool a_signed, bool b_signed) {
  if (a_signed) return b_signed ? fns<Dot<true, true>>() : fns<Dot<true, false>>();
  return b_signed ? fns<Dot<false, true>>() : fns<Dot<false, false>>();
}

constexpr ops::TypeSet kIntegers = {Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
constexpr ops::TypeSet kWords = {Type::u32, Type::s32};

constexpr Form kForms[] = {
    {"mul", kIntegers, make_mul},   {"mad", kIntegers, make_mad}, {"mul24", kWords, make_mul24},
    {"mad24", kWords, make_mad24}, {"sad", kIntegers, make_sad},
};

}  // namespace

FormSpan integer_product_forms() { return kForms; }

Result<DecodedOp> make_dot_product(DecodeContext& context, const LoweredInstruction& instruction,
                                   Modifiers& modifiers) {
  const std::optional<Type> b = ops::take_type(modifiers), a = ops::take_type(modifiers);
  if (!a || !b || type_bits(*a) != 32 || type_bits(*b) != 32) return invalid("needs two types of .u32 or .s32");
  const Request request{context, instruction, modifiers, *a};
  if (instruction.opcode == "dp4a")
    return make_op(request, fns_of_dot<Dot4>(is_signed(*a), is_signed(*b)), Type::u32,
                   {Type::u32, Type::u32, Type::u32});
  const std::string_view part = modifiers.take_one_of({"lo", "hi"});
  if (part.empty()) return invalid("needs .lo or .hi");
  return make_op(request, fns_of_dot<Dot2>(is_signed(*a), is_signed(*b)), Type::u32, {Type::u32, Type::u32, Type::u32},
                 CostClass::alu, part == "hi" ? 2 : 0);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
