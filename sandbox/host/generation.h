#pragma once
// What makes all sets of weights in the memory of a GPU worker.

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/host/chain_start.h"
#include "sandbox/host/gpu_layout.h"
#include "sandbox/protocol/messages.h"
#include "tasks/device_generator.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

constexpr const char* kGeneratorModule = "generator";

// The buffer that the kernels of tasks::generator_source() look values up in.
BufferSpec generator_table();

// Fills one state of a chain; `buffer`: where it lies.
LaunchOrder state_order(const tasks::Task& task, const tasks::Tensor& state, const ChainStart& start, const std::string& buffer);

// Uploads the table, fills every set and seals it. The generator is loaded as kGeneratorModule.
RunJob generation(const tasks::Task& task, const GpuLayout& layout, const tasks::GeneratorDevice& device,
                  std::uint64_t session_weight_seed);

}  // namespace onelaunch::sandbox
