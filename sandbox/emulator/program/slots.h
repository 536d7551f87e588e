#pragma once
// Where virtual registers live in a warp's memory; registers that are never alive together share a slot.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/program/kernel.h"
#include "sandbox/emulator/program/liveness.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

constexpr std::uint32_t kRow32Bytes = 128, kRow64Bytes = 256, kPredicateBytes = 4;

struct Slots {
  std::vector<std::uint32_t> offset_of;  // of each virtual register; kNoOperand when it is never touched
  Layout layout;
};

// Sources and destinations of one instruction never share, so operations may write before they have read everything.
Slots assign_slots(const std::vector<RegisterClass>& registers, const std::vector<Interval>& intervals);

}  // namespace onelaunch::emu
