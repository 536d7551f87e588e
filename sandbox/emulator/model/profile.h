#pragma once
// What the performance model knows of a device. The H200's were measured (docs/h200.md).

#include <cstddef>
#include <string>
#include <vector>

namespace onelaunch::emu {

struct DeviceProfile {
  std::string name;                      // "H200"
  std::string target;                    // "sm_90a"
  bool measured = true;                  // else bandwidth is the vendor's figure, and latencies and L2 are the H200's
  int sms = 132;
  std::vector<int> gpc_sms = {18, 18, 18, 18, 18, 16, 16, 10};  // a cluster lies within one of these groups of SMs
  int threads_per_sm = 2048, threads_per_block = 1024, blocks_per_sm = 32, registers_per_sm = 65536;
  int registers_per_thread = 255;
  std::size_t shared_per_sm = 233472, shared_per_block = 232448, shared_reserved_per_block = 1024;
  double clock_ghz = 1.98;
  double dram_tb_s = 4.71;               // best measured stream
  double l2_tb_s = 5.84;                 // L2 to SM
  std::size_t l2_bytes = 60u << 20;
  std::size_t l1_bytes = 256u << 10;     // shared memory is taken from it
  int dram_cycles = 646, l2_cycles = 280, l1_cycles = 40, atomic_cycles = 519;  // latencies, by pointer chase
  double grid_barrier_us = 0.95, launch_us = 4.0;
};

DeviceProfile h200_profile();

// A card of that architecture, with its own limits: A100 (sm_80), RTX 3090 (sm_86), RTX 4090 (sm_89), B200 (sm_100), RTX
// PRO 6000 Blackwell (sm_120); the H200's for sm_90 and for what is not known. The letter at the end changes nothing.
// Limits are those that NVIDIA documents for the compute capability, sizes those of the card.
DeviceProfile profile_of_target(const std::string& target);

}  // namespace onelaunch::emu
