#pragma once
// One context on one kind of inputs, ready to be timed on a GPU: a chain of steps on rotating weight sets, all of whose
// answers are known, so that the launches that are timed are launches that are checked.

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/host/gpu_layout.h"
#include "sandbox/host/reference.h"
#include "sandbox/protocol/messages.h"
#include "tasks/compare.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

constexpr int kChainLengthMax = 64;

struct TimedSpec {
  tasks::InputSet inputs = tasks::InputSet::nominal;
  std::int64_t context = 0;
  std::uint64_t seed = 0;
};

class TimedCase {
 public:
  TimedCase(const tasks::Task& task, const TimedSpec& spec) : task_(task), spec_(spec) {}

  const TimedSpec& spec() const { return spec_; }
  std::int64_t capacity() const { return spec_.context + kChainLengthMax + 1; }
  ChainStart start() const { return {spec_.inputs, spec_.context, capacity(), spec_.seed}; }

  // Its own states and tokens on the device.
  std::vector<BufferSpec> buffers() const;
  // Outputs of all steps of a chain; shared by all cases.
  static std::vector<BufferSpec> output_buffers(const tasks::Task& task);

  // Draws `length` steps and their answers. Step i is on weight set i modulo `sets`.
  Result<void> expect(Reference& reference, int length, int sets);
  // What sets states and tokens on the device once after expect(): jobs to be run in order.
  std::vector<RunJob> uploads() const;

  enum class Loop {
    rotated,     // tokens given, weight sets in rotation: the primary time
    single_set,  // one weight set, each output is the next token where it fits: what public boards time
  };
  struct Arm {
    std::vector<LaunchOrder> orders;         // of each step in turn, to be redirected
    std::vector<Redirections> places;        // of what is the arm's own, by weight set
  };
  // Restores what the steps overwrite, poisons outputs, runs the steps, reads the outputs. `length`: at most expect()'s.
  TimedChain chain(const GpuLayout& layout, const Arm& arm, Loop loop, int length, std::uint64_t poison_seed) const;

  // Findings on what one run of a chain read. Of a single-set loop only the first step is known.
  std::vector<tasks::Finding> judge(const std::vector<std::string>& reads, Loop loop) const;
  // The states after a rotated chain of full length.
  std::vector<BufferRead> state_reads() const;
  std::vector<tasks::Finding> judge_states(const std::vector<std::string>& reads) const;

 private:
  std::string name(const char* what, const tasks::Tensor& tensor) const;
  Redirections places(int step, Loop loop) const;

  const tasks::Task& task_;
  TimedSpec spec_;
  int length_ = 0;
  std::vector<tasks::Bytes> tokens_;                  // by step
  std::vector<std::vector<tasks::Bytes>> outputs_;    // by step, then in task order
  std::vector<tasks::Bytes> after_;
};

}  // namespace onelaunch::sandbox
