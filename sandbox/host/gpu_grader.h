#pragma once
// The correctness gate and the times of one candidate on a GPU, in a worker of its own.

#include <string>

#include "sandbox/host/gpu_reference.h"
#include "sandbox/host/grader.h"

namespace onelaunch::sandbox {

// What every grade on a GPU needs; all borrowed.
struct GpuBench {
  const GradeBench& base;
  std::string role;                    // of the worker: "cuda:0"
  const GpuLayout& layout;
  const ModuleSpec &generator, &harness;
  tasks::GeneratorDevice generator_device;
  std::uint64_t weight_seed = 0;
  GpuReference& reference;
  double chain_us = 2000;              // length of a timed chain
  double stream_tb_s = 0;              // best measured stream, for the floor; 0: not known
};

// As grade_candidate() on the emulator, with measured times. The worker that the reference lives in is not touched by
// candidates.
Result<Grade> grade_on_gpu(const GpuBench& bench, const Compiled& candidate, const GradeRequest& request, Deadline deadline,
                           const Interrupts::Scope& interrupts);

// The floor that physics sets: us to read what a token must read, at the best measured stream. 0: not known, because
// the weights in rotation would fit the L2 cache.
double floor_us(const GpuBench& bench, std::int64_t context);

}  // namespace onelaunch::sandbox
