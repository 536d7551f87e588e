#pragma once
// The row functions are built once per vector level of the host's processor; all levels give the same bits.

#include <span>

#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu::ops {

enum class Level { portable, avx2 };

bool supported(Level level);  // by this processor

}  // namespace onelaunch::emu::ops

namespace onelaunch::emu::portable {
std::span<const OpcodeRow> rows();
}
namespace onelaunch::emu::avx2 {
std::span<const OpcodeRow> rows();
}
