#pragma once
// The buffers of a candidate on the device, their names, and the parameters that point to them.

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/host/weights.h"
#include "sandbox/protocol/candidate.h"
#include "sandbox/protocol/messages.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

constexpr const char* kPreparedBuffer = "prepared";
constexpr const char* kSyncBuffer = "sync";
constexpr const char* kScratchBuffer = "scratch";
constexpr const char* kCandidateModule = "candidate";
constexpr const char* kEagerModule = "eager";

// "weight norm", "state kda.0.S": as reports on bad accesses name them.
std::string buffer_name(const tasks::Tensor& tensor);

// Every tensor of the task, caches with `capacity` rows.
std::vector<BufferSpec> tensor_buffers(const tasks::Task& task, const Weights& weights, std::int64_t capacity);
// Sync and scratch as declared; none of size zero.
std::vector<BufferSpec> workspace_buffers(const LaunchDeclaration& launch);
// All tensors, and what the candidate declares; none of size zero.
std::vector<BufferSpec> candidate_buffers(const tasks::Task& task, const Weights& weights, std::int64_t capacity,
                                          const LaunchDeclaration& launch);

// A kernel of ours, whose parameters are words of 8 bytes: zero here, to be filled in and relocated.
LaunchOrder own_order(const std::string& module, const std::string& entry, std::size_t words);

struct CallState {
  std::int64_t position = 0, capacity = 0;
  std::uint64_t epoch = 0;
};
// Parameters and relocations of the megakernel or a prepare kernel; the caller fills in the rest of the order.
LaunchOrder megakernel_order(const tasks::Task& task, const LaunchDeclaration& launch, const CallState& state);
LaunchOrder prepare_order(const tasks::Task& task, const LaunchDeclaration& launch, const PrepareDeclaration& prepare);

}  // namespace onelaunch::sandbox
