#pragma once
// What an atomic or a reducing copy does to one number in memory.

#include <cstdint>

#include "base/result.h"
#include "sandbox/emulator/memory/form.h"
#include "sandbox/emulator/memory/modifiers.h"

namespace onelaunch::emu {

enum class Change : std::uint8_t { add, min, max, and_, or_, xor_, exch, cas, inc, dec };
enum class Number : std::uint8_t { unsigned_, signed_, f16, bf16, f32, f64 };

// Above the access form in DecodedOp::extra. A packed pair is one register of two numbers.
struct AtomicForm {
  Change change = Change::add;
  Number number = Number::unsigned_;
  bool returns = false, packed = false;

  std::uint32_t pack() const {
    return (static_cast<std::uint32_t>(change) | static_cast<std::uint32_t>(number) << 4 | std::uint32_t{returns} << 8 |
            std::uint32_t{packed} << 9) << kFormBits;
  }
  static AtomicForm unpack(std::uint32_t extra) {
    const std::uint32_t bits = extra >> kFormBits;
    return {static_cast<Change>(bits & 15), static_cast<Number>(bits >> 4 & 15), (bits >> 8 & 1) != 0, (bits >> 9 & 1) != 0};
  }
};

// One register's worth of `bytes` bytes: one number, or a packed pair of 16-bit ones. `flush`: subnormal f32 operands
// and sums become zero, as in global memory.
std::uint64_t changed_register(AtomicForm atomic, unsigned bytes, std::uint64_t old, std::uint64_t operand,
                               std::uint64_t replacement, bool flush);

Result<Change> take_change(Modifiers& modifiers);                    // .add, .min, ...
Result<AtomicForm> form_of(Change change, const ElementType& type);  // fails where the type lacks the operation

}  // namespace onelaunch::emu
