#pragma once
// A chain of steps with known answers: states and tokens drawn from a seed, poison where an answer belongs, the
// reference's results, and the comparison. The caller moves the candidate's bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/host/reference.h"
#include "sandbox/protocol/messages.h"
#include "tasks/compare.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct ChainSpec {
  tasks::InputSet set = tasks::InputSet::nominal;
  std::int64_t context = 0, capacity = 0;  // tokens cached before the first step; rows of the caches
  int steps = 1;
  std::uint64_t seed = 0;                  // of states, tokens and poison
  bool states_each_step = true;            // else states are compared after the last step only
};

class Chain {
 public:
  // Borrows both. The reference works on the weights that the device has.
  Chain(const tasks::Task& task, Reference& reference, const ChainSpec& spec);

  // Before the first step: the reference's states, and what to write on the device. Rows of caches that are not written
  // yet are poison.
  Result<std::vector<BufferWrite>> begin();
  // The next step's token, and poison in every output.
  Result<std::vector<BufferWrite>> next_inputs();
  // What to read back after the launch.
  std::vector<BufferRead> reads() const;
  // The reference takes the same step. Independent of what the device answers.
  Result<void> expect();
  // Findings on the bytes read, one or more per tensor. Wrong sizes are a bug of ours.
  std::vector<tasks::Finding> judge(const std::vector<std::string>& read) const;

  int step() const { return step_; }        // of the last inputs, from 0
  std::int64_t position() const { return spec_.context + step_; }

 private:
  std::vector<tasks::Finding> unwritten_rows(const tasks::Tensor& tensor, std::span<const std::byte> got,
                                             std::span<const std::byte> before) const;
  std::span<const std::byte> residual_of(const tasks::Tensor& output) const;
  bool compares_states() const { return spec_.states_each_step || step_ + 1 == spec_.steps; }

  const tasks::Task& task_;
  Reference& reference_;
  ChainSpec spec_;
  int step_ = -1;
  std::vector<tasks::Bytes> before_;        // states in task order, as uploaded
  tasks::Bytes token_;
  std::vector<tasks::Bytes> poison_;        // of this step's outputs
  std::vector<tasks::Bytes> expected_outputs_, expected_states_;
};

}  // namespace onelaunch::sandbox
