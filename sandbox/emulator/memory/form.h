#pragma once
// How DecodedOp::extra of a memory operation is packed, and where its registers are.
//
// Loads: dst (one element) or the operand list (several) receives; address row a plus imm.
// Stores and atomics: b or the list holds the values, c the second value of cas.

#include <cstdint>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

enum class MemorySpace : std::uint8_t { global, shared, local, param, generic };

struct AccessForm {
  MemorySpace space = MemorySpace::generic;
  bool wide_address = true;    // the address is a 64-bit row
  std::uint8_t element_log2 = 2;
  bool sign_extend = false;
  bool wide_register = false;  // elements live in 64-bit rows
  std::uint8_t count = 1;      // vector elements
  bool strong = false;         // volatile, relaxed, acquire, release, or an atomic
  bool past_l1 = false;        // a load that leaves nothing in L1

  unsigned element_bytes() const { return 1u << element_log2; }
  std::uint32_t pack() const {
    return static_cast<std::uint32_t>(space) | std::uint32_t{wide_address} << 3 | std::uint32_t{element_log2} << 4 |
           std::uint32_t{sign_extend} << 6 | std::uint32_t{wide_register} << 7 | std::uint32_t{count} << 8 |
           std::uint32_t{strong} << 12 | std::uint32_t{past_l1} << 13;
  }
  static AccessForm unpack(std::uint32_t bits) {
    AccessForm form;
    form.space = static_cast<MemorySpace>(bits & 7);
    form.wide_address = bits >> 3 & 1;
    form.element_log2 = static_cast<std::uint8_t>(bits >> 4 & 3);
    form.sign_extend = bits >> 6 & 1;
    form.wide_register = bits >> 7 & 1;
    form.count = static_cast<std::uint8_t>(bits >> 8 & 15);
    form.strong = bits >> 12 & 1;
    form.past_l1 = bits >> 13 & 1;
    return form;
  }
};
constexpr std::uint32_t kFormBits = 14;  // operations keep their own bits above

}  // namespace onelaunch::emu
