#include "sandbox/emulator/model/estimate.h"

#include <algorithm>
#include <array>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {
namespace {

// Warp instructions per cycle and SM (Hopper: four schedulers; ALU at half rate, special functions at an eighth).
constexpr double kIssueRate = 4, kAluRate = 2, kFmaRate = 4, kMufuRate = 0.5, kLoadStoreRate = 1, kTensorRate = 0.25;
// Atomics the L2 takes, from the measured all-reduce of 2,304 floats from 128 blocks (docs/results).
constexpr double kAtomicsPerUs = 200e3;

double at(const BlockPhase& work, CostClass kind) { return static_cast<double>(work.classes[static_cast<std::size_t>(kind)]); }

// What one SM has to do in a phase, in cycles.
struct SmWork {
  double issue = 0, alu = 0, fma = 0, mufu = 0, load_store = 0, tensor = 0, shared = 0;
  double chain_sum = 0, chain_max = 0;

  void add(const BlockPhase& work) {
    double issued = 0;
    for (std::size_t k = 1; k < kCostClasses; ++k) issued += static_cast<double>(work.classes[k]);
    issue += issued / kIssueRate;
    alu += at(work, CostClass::alu) / kAluRate;
    fma += at(work, CostClass::fma) / kFmaRate;
    mufu += at(work, CostClass::mufu) / kMufuRate;
    load_store += at(work, CostClass::load_store) / kLoadStoreRate;
    tensor += at(work, CostClass::tensor) / kTensorRate;
    shared += static_cast<double>(work.shared_wavefronts);
    const double chain = work.chain_cycles + work.loose_chain_cycles;
    chain_sum += chain;
    chain_max = std::max(chain_max, chain);
  }
};

struct Bound {
  double us = 0;
  const char* name = "issue";
  void raise(double other_us, const char* other) {
    if (other_us > us) us = other_us, name = other;
  }
};

void add_counters(PhaseCounters& sum, const BlockPhase& work) {
  for (std::size_t k = 0; k < kCostClasses; ++k) sum.classes[k] += work.classes[k], sum.warp_instructions += work.classes[k];
  sum.dram_bytes_read += work.dram_read * kSectorBytes;
  sum.dram_bytes_written += work.dram_written * kSectorBytes;
  sum.l2_bytes += work.l2_sectors * kSectorBytes;
  sum.shared_wavefronts += work.shared_wavefronts;
  sum.atomics += work.atomics;
}

void bound_by_sm(Bound& bound, const SmWork& sm, double at_once, double clock_mhz) {
  bound.raise(sm.issue / clock_mhz, "issue");
  bound.raise(sm.alu / clock_mhz, "alu");
  bound.raise(sm.fma / clock_mhz, "fma");
  bound.raise(sm.mufu / clock_mhz, "mufu");
  bound.raise(sm.load_store / clock_mhz, "load_store");
  bound.raise(sm.tensor / clock_mhz, "tensor");
  bound.raise(sm.shared / clock_mhz, "shared");
  bound.raise(std::max(sm.chain_max, sm.chain_sum / at_once) / clock_mhz, "latency");
}

double blocks_at_once(const DeviceProfile& profile, int resident) {
  return std::max(1.0, static_cast<double>(resident) / profile.sms);
}

PhaseCounters estimate_phase(const DeviceProfile& profile, const std::vector<const BlockPhases*>& blocks, std::size_t number,
                             double at_once) {
  PhaseCounters phase;
  std::vector<SmWork> sms(static_cast<std::size_t>(profile.sms));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (number >= blocks[b]->size()) continue;
    const BlockPhase& work = (*blocks[b])[number];
    add_counters(phase, work);
    sms[b % sms.size()].add(work);
  }
  Bound bound;
  const double clock_mhz = profile.clock_ghz * 1e3;  // cycles a microsecond
  for (const SmWork& sm : sms) bound_by_sm(bound, sm, at_once, clock_mhz);
  bound.raise(static_cast<double>(phase.dram_bytes_read + phase.dram_bytes_written) / (profile.dram_tb_s * 1e6), "dram");
  bound.raise(static_cast<double>(phase.l2_bytes) / (profile.l2_tb_s * 1e6), "l2");
  bound.raise(static_cast<double>(phase.atomics) / kAtomicsPerUs, "atomics");
  phase.us = bound.us;
  phase.bound = bound.name;
  return phase;
}

}  // namespace

std::vector<PhaseCounters> estimate_phases(const DeviceProfile& profile, const std::vector<const BlockPhases*>& blocks,
                                           int resident) {
  std::size_t count = 0;
  for (const BlockPhases* phases : blocks) count = std::max(count, phases->size());
  std::vector<PhaseCounters> result;
  for (std::size_t number = 0; number < count; ++number) {
    PhaseCounters phase = estimate_phase(profile, blocks, number, blocks_at_once(profile, resident));
    if (number > 0) phase.us += phase_wait_us(profile);
    if (phase.warp_instructions > 0) result.push_back(phase);
  }
  return result;
}

double phase_work_us(const DeviceProfile& profile, const std::vector<const BlockPhases*>& blocks, std::size_t number, int resident) {
  return estimate_phase(profile, blocks, number, blocks_at_once(profile, resident)).us;
}

// The atomic that arrives and the first look at the counter are in the chain already: the rest of the wait comes on top.
double phase_wait_us(const DeviceProfile& profile) {
  const ChainCosts chain = chain_costs(profile);
  return std::max(0.0, profile.grid_barrier_us - (chain.atomic_cycles + chain.l2_cycles) / (profile.clock_ghz * 1e3));
}

double block_work_us(const DeviceProfile& profile, const BlockPhase& work, std::size_t blocks, int resident) {
  SmWork sm;
  sm.add(work);
  Bound bound;
  bound_by_sm(bound, sm, blocks_at_once(profile, resident), profile.clock_ghz * 1e3);
  const double share = static_cast<double>(kSectorBytes * blocks) / 1e6;
  bound.raise(static_cast<double>(work.dram_read + work.dram_written) * share / profile.dram_tb_s, "dram");
  bound.raise(static_cast<double>(work.l2_sectors) * share / profile.l2_tb_s, "l2");
  return bound.us;
}

PhaseCounters estimate_total(const DeviceProfile& profile, const std::vector<PhaseCounters>& phases) {
  PhaseCounters total;
  total.us = profile.launch_us;
  double longest = 0;
  for (const PhaseCounters& phase : phases) {
    for (std::size_t k = 0; k < kCostClasses; ++k) total.classes[k] += phase.classes[k];
    total.warp_instructions += phase.warp_instructions;
    total.dram_bytes_read += phase.dram_bytes_read;
    total.dram_bytes_written += phase.dram_bytes_written;
    total.l2_bytes += phase.l2_bytes;
    total.shared_wavefronts += phase.shared_wavefronts;
    total.atomics += phase.atomics;
    total.us += phase.us;
    if (phase.us > longest) longest = phase.us, total.bound = phase.bound;
  }
  return total;
}

ChainCosts chain_costs(const DeviceProfile& profile) {
  ChainCosts costs;
  costs.dram_cycles = static_cast<std::uint32_t>(profile.dram_cycles);
  costs.l2_cycles = static_cast<std::uint32_t>(profile.l2_cycles);
  costs.l1_cycles = static_cast<std::uint32_t>(profile.l1_cycles);
  costs.atomic_cycles = static_cast<std::uint32_t>(profile.atomic_cycles);
  return costs;
}

}  // namespace onelaunch::emu
