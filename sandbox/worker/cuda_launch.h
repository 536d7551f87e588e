#pragma once
// Launches on a GPU: orders made ready once, launched often, and what a failed one means.

#include <optional>
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

// How something on the device ended: well, by the kernel's fault, or by what is no kernel's doing (a card that fails).
struct Ended {
  std::optional<std::string> problem;
  std::vector<sandbox::LaunchFault> faults;
  bool context_lost = false;  // every further call fails: the process has to be replaced
  bool well() const { return !problem && faults.empty(); }
};

// The kinds of faults are the emulator's where they mean the same.
Ended ended_with(const cuda::Driver& driver, CUresult result, const std::string& entry);

// Allows the function what the launch asks for, and checks that all blocks of a cooperative launch can be on the device
// at once: the fault says the numbers. Once per order, before its first launch.
Ended permit(const cuda::Device& device, const ReadyLaunch& launch);

CUresult launch(const cuda::Driver& driver, const ReadyLaunch& launch, CUstream stream);

}  // namespace onelaunch::worker
