#pragma once
// From what a launch did to how long a device of this profile would take: a bound per phase, and the largest holds.

#include <cstdint>
#include <vector>

#include "sandbox/emulator/device.h"
#include "sandbox/emulator/model/counters.h"
#include "sandbox/emulator/model/profile.h"

namespace onelaunch::emu {

// `blocks` holds the phases of each block in order of its number; block b runs on SM b mod sms, `resident` of them at
// once on the whole device.
std::vector<PhaseCounters> estimate_phases(const DeviceProfile& profile, const std::vector<const BlockPhases*>& blocks,
                                           int resident);

// Sums over the phases; its us holds the launch too.
PhaseCounters estimate_total(const DeviceProfile& profile, const std::vector<PhaseCounters>& phases);

ChainCosts chain_costs(const DeviceProfile& profile);

}  // namespace onelaunch::emu
