#pragma once
// Launches on a GPU: orders made ready once, launched often, and what a failed one means.

#include <string>
#include <vector>

#include "sandbox/cuda/device.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::worker {

// An order with its addresses filled in.
struct ReadyLaunch {
  std::string entry;
  CUfunction function = nullptr;
  unsigned grid = 1, block = 1, dynamic_smem = 0, cluster = 1;
  bool cooperative = true;
  std::string parameters;
};

// The fault of a device error: the kinds are the emulator's where they mean the same.
sandbox::LaunchFault fault_of(const cuda::Driver& driver, CUresult result, const std::string& entry);

// Allows the function what the launch asks for, and checks that all blocks of a cooperative launch can be on the device
// at once: the fault says the numbers. Once per order, before its first launch.
std::vector<sandbox::LaunchFault> permit(const cuda::Device& device, const ReadyLaunch& launch);

CUresult launch(const cuda::Driver& driver, const ReadyLaunch& launch, CUstream stream);

}  // namespace onelaunch::worker
