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

// The work of one phase alone, without the wait before it; and that wait. Phase 0 has none.
double phase_work_us(const DeviceProfile& profile, const std::vector<const BlockPhases*>& blocks, std::size_t number, int resident);
double phase_wait_us(const DeviceProfile& profile);

// How far one block has come in a phase when it has done `work`: with its SM to itself and its share of what all
// `blocks` of the launch draw on.
double block_work_us(const DeviceProfile& profile, const BlockPhase& work, std::size_t blocks, int resident);

ChainCosts chain_costs(const DeviceProfile& profile);

}  // namespace onelaunch::emu
