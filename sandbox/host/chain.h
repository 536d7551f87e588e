#pragma once
// A chain of steps with known answers: states and tokens drawn from a seed, poison where an answer belongs, the
// reference's results, and the comparison. The caller moves the candidate's bytes.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/host/reference.h"
#include "sandbox/protocol/messages.h"
#include "tasks/compare.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct ChainSpec {
  ChainStart start;
  int steps = 1;
  // A GPU worker makes the states itself, and they are compared after the last step only: they are large.
  bool on_gpu = false;
};

class Chain {
 public:
  // Borrows both. The reference works on the weights that the device has.
  Chain(const tasks::Task& task, Reference& reference, const ChainSpec& spec);

  // Before the first step: the reference's states are set, and these jobs set those of the device.
  Result<std::vector<RunJob>> begin();
  // The next step's token, and poison in every output.
  Result<std::vector<BufferWrite>> next_inputs();
  // What to read back after the launch.
  std::vector<BufferRead> reads() const;
  // The reference takes the same step. Independent of what the device answers.
  Result<void> expect();
  // Findings on the bytes read, one or more per tensor. Wrong sizes are a bug of ours.
  std::vector<tasks::Finding> judge(const std::vector<std::string>& read) const;

  int step() const { return step_; }        // of the last inputs, from 0
  std::int64_t position() const { return spec_.start.context + step_; }

 private:
  std::vector<tasks::Finding> never_written(std::size_t state, const tasks::Tensor& tensor, std::span<const std::byte> got) const;
  std::vector<tasks::Finding> written_inputs(std::span<const std::string> read) const;
  std::span<const std::byte> before_state(std::size_t state) const;
  std::span<const std::byte> residual_of(const tasks::Tensor& output) const;
  bool compares_states() const { return !spec_.on_gpu || step_ + 1 == spec_.steps; }

  const tasks::Task& task_;
  Reference& reference_;
  ChainSpec spec_;
  int step_ = -1;
  std::vector<tasks::Bytes> before_;        // states in task order, as they were; not kept of those made on a GPU
  std::vector<tasks::Bytes> unwritten_;     // rows of each cache before the first step
  tasks::Bytes token_;
  std::vector<tasks::Bytes> poison_;        // of this step's outputs
  std::vector<tasks::Bytes> expected_outputs_, expected_states_;
};

}  // namespace onelaunch::sandbox
