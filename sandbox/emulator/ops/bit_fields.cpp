// Bit fields, byte permutation and three-input logic.

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
inline T low_ones(u32 count) {
  constexpr u32 kWidth = 8 * sizeof(T);
  return count >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

// What the hardware reads of positions and lengths: 8 bits. The 64-bit forms are emulated on the GPU, with all 32.
template <class T>
inline u32 read_amount(u32 operand) {
  return sizeof(T) == 8 ? operand : operand & 255u;
}

// Position in b and length in c. Bits beyond the word repeat its last one (signed) or are zero.
template <class T>
struct Extract : Stateless {
  using Stateless::Stateless;
  T operator()(T a, u32 position_operand, u32 length_operand) const {
    using Bits = std::make_unsigned_t<T>;
    constexpr u32 kWidth = 8 * sizeof(T);
    const u32 position = read_amount<T>(position_operand), length = read_amount<T>(length_operand);
    if (length == 0) return 0;
    const Bits bits = static_cast<Bits>(a);
    const Bits field = position < kWidth ? static_cast<Bits>(bits >> position) & low_ones<Bits>(length) : Bits{0};
    const u64 end = u64{position} + length - 1;
    const u32 last = end < kWidth ? static_cast<u32>(end) : kWidth - 1;
    const bool negative = std::is_signed_v<T> && (bits >> last & 1);
    const u32 from = position < kWidth ? last - position + 1 : 0;  // of the result, the first bit of the sign
    return static_cast<T>(negative ? field | static_cast<Bits>(~low_ones<Bits>(from)) : field);
  }
};

template <class T>
inline T insert(T a, T b, u32 position, u32 length) {
  constexpr u32 kWidth = 8 * sizeof(T);
  if (position >= kWidth) return b;
  const T field = static_cast<T>(low_ones<T>(length) << position);
  return static_cast<T>(((a << position) & field) | (b & ~field));
}

// Position in c, length in the list: the only operation with four sources that are not vectors.
template <class T, bool full>
void insert_row(Warp& warp, const DecodedOp& op, u32 mask) {
  const T* const a = warp.row<T>(op.a);
  const T* const b = warp.row<T>(op.b);
  const u32* const position = warp.row<u32>(op.c);
  const u32* const length = warp.row<u32>(warp.operands[op.list]);
  T* const to = warp.row_to_write<T>(op.dst);
  for (int i = 0; i < kLanes; ++i)
    put<full>(to, i, insert<T>(a[i], b[i], read_amount<T>(position[i]), read_amount<T>(length[i])), mask);
}

template <class T>
struct InsertBy {
  u32 position;
  T field;
  explicit InsertBy(const DecodedOp& op) : position(op.extra), field(static_cast<T>(op.imm)) {}
  T operator()(T a, T b) const { return static_cast<T>(((a << position) & field) | (b & ~field)); }
};

template <class T>
Result<DecodedOp> make_insert(const Request& request) {
  OperandReader reader(request);
  reader.expect(5);
  const LoweredOperand& position = reader.operand(3);
  const LoweredOperand& length = reader.operand(4);
  const u32 at = read_amount<T>(static_cast<u32>(position.value));
  const bool known = position.constant && length.constant && at < 8 * sizeof(T);
  DecodedOp op = ops::start_op(known ? fns<InsertBy<T>>() : OpFns{&insert_row<T, true>, &insert_row<T, false>},
                               CostClass::alu);
  op.dst = reader.destination(0, request.type);
  op.a = reader.source(1, request.type);
  op.b = reader.source(2, request.type);
  if (known) {
    op.extra = at;
    op.imm = static_cast<T>(low_ones<T>(read_amount<T>(static_cast<u32>(length.value))) << at);
  } else {
    op.c = reader.source(3, Type::u32);
    op.list = reader.list({reader.source(4, Type::u32)});
  }
  return reader.finish(op);
}

Result<DecodedOp> make_bfi(Request& request) {
  return is_wide(request.type) ? make_insert<u64>(request) : make_insert<u32>(request);
}

Result<DecodedOp> make_bfe(Request& request) {
  return make_op(request, fns_of_integer<Extract>(request.type), request.type,
                 {request.type, Type::u32, Type::u32});
}

// The highest bit that differs from the sign, all ones if none; extra 1: as the shift that brings it to the top.
template <class T>
struct FindBit {
  bool as_shift;
  explicit FindBit(const DecodedOp& op) : as_shift(op.extra != 0) {}
  u32 operator()(T a) const {
    using Bits = std::make_unsigned_t<T>;
    const Bits bits = static_cast<Bits>(a < 0 ? static_cast<T>(~a) : a);
    if (bits == 0) return ~0u;
    const u32 zeros = static_cast<u32>(std::countl_zero(bits));
    return as_shift ? zeros : static_cast<u32>(8 * sizeof(T)) - 1 - zeros;
  }
};

Result<DecodedOp> make_bfind(Request& request) {
  const bool as_shift = request.modifiers.take("shiftamt");
  return make_op(request, fns_of_integer<FindBit>(request.type), Type::u32, {request.type}, CostClass::alu, as_shift);
}

// Any truth table, as multiplexers: bit 4a + 2b + c of the table is the result.
struct Logic3 {
  u32 entry[8];
  explicit Logic3(const DecodedOp& op) {
    for (u32 i = 0; i < 8; ++i) entry[i] = 0u - (op.extra >> i & 1u);
  }
  static u32 choose(u32 by, u32 one, u32 zero) { return zero ^ (by & (one ^ zero)); }
  u32 operator()(u32 a, u32 b, u32 c) const {
    const u32 b0 = choose(b, choose(c, entry[3], entry[2]), choose(c, entry[1], entry[0]));
    const u32 b1 = choose(b, choose(c, entry[7], entry[6]), choose(c, entry[5], entry[4]));
    return choose(a, b1, b0);
  }
};

template <u32 table>
struct Logic3Of : Stateless {
  using Stateless::Stateless;
  u32 operator()(u32 a, u32 b, u32 c) const {
    if constexpr (table == 0xea) return (a & b) | c;
    else if constexpr (table == 0x6a) return (a & b) ^ c;
    else if constexpr (table == 0x96) return a ^ b ^ c;
    else if constexpr (table == 0xca) return (a & b) | (~a & c);
    else if constexpr (table == 0xf8) return a | (b & c);
    else return a | b | c;
  }
};

OpFns logic3_fns(u32 table) {
  switch (table) {
    case 0xea: return fns<Logic3Of<0xea>>();
    case 0x6a: return fns<Logic3Of<0x6a>>();
    case 0x96: return fns<Logic3Of<0x96>>();
    case 0xca: return fns<Logic3Of<0xca>>();
    case 0xf8: return fns<Logic3Of<0xf8>>();
    case 0xfe: return fns<Logic3Of<0xfe>>();
    default: return fns<Logic3>();
  }
}

Result<DecodedOp> make_lop3(Request& request) {
  OperandReader reader(request);
  reader.expect(5);
  if (!reader.operand(4).constant) return invalid("the truth table must be a constant");
  const u32 table = static_cast<u32>(reader.operand(4).value) & 255;
  DecodedOp op = ops::start_op(logic3_fns(table), CostClass::alu);
  op.dst = reader.destination(0, Type::b32);
  op.a = reader.source(1, Type::b32);
  op.b = reader.source(2, Type::b32);
  op.c = reader.source(3, Type::b32);
  op.extra = table;
  return reader.finish(op);
}

constexpr Form kForms[] = {
    {"bfe", {Type::u32, Type::s32, Type::u64, Type::s64}, make_bfe},
    {"bfi", {Type::b32, Type::b64}, make_bfi},
    {"bfind", {Type::u32, Type::s32, Type::u64, Type::s64}, make_bfind},
    {"lop3", {Type::b32}, make_lop3},
};

}  // namespace

FormSpan bit_field_forms() { return kForms; }

}  // namespace onelaunch::emu::OL_OPS_LEVEL
