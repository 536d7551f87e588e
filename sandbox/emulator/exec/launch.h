#pragma once
// One launch from start to report.

#include <span>

#include "base/result.h"
#include "sandbox/emulator/device.h"
#include "sandbox/emulator/memory/arena.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// A decoded entry with its constant rows where the interpreter wants them.
struct LoadedEntry {
  std::shared_ptr<const Program> program;
  std::vector<std::byte> constants_storage;
  const std::byte* constants = nullptr;  // 64-byte aligned
  std::vector<bool> first_of_rounds;     // model/rounds.h
};
LoadedEntry make_entry(std::shared_ptr<const Program> program);

// `workspace`: address of cooperative groups' grid workspace, zeroed for this launch.
LaunchReport run_launch(const LoadedEntry& entry, Memory& memory, const DeviceProfile& profile, const LaunchShape& shape,
                        int resident, std::span<const std::byte> params, std::uint64_t workspace,
                        const LaunchOptions& options);

}  // namespace onelaunch::emu
