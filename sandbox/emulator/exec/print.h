#pragma once
// vprintf: formats what each lane prints and appends it to the launch's output, up to a limit.

#include <cstddef>
#include <cstdint>

#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {

constexpr std::size_t kPrintedBytesMax = 1u << 20;

void print(Warp& warp, const DecodedOp& op, std::uint32_t mask);

}  // namespace onelaunch::emu
