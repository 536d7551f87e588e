#pragma once
// A chain of steps with known answers: states and tokens drawn from a seed, poison where an answer belongs, the oracle's
// results, and the comparison. Knows no process: the caller moves the bytes.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/protocol/messages.h"
#include "tasks/compare.h"
#include "tasks/oracle.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct ChainSpec {
  tasks::InputSet set = tasks::InputSet::nominal;
  std::int64_t context = 0, capacity = 0;  // tokens cached before the first step; rows of the caches
  int steps = 1;
  std::uint64_t seed = 0;                  // of states, tokens and poison
};

class Chain {
 public:
  // Borrows both. The oracle's weights are those that the device has.
  Chain(const tasks::Task& task, tasks::Oracle& oracle, const ChainSpec& spec);

  // The states before the first step. Rows of caches that are not written yet are poison.
  std::vector<BufferWrite> states() const;
  // The next step's token, and poison in every output.
  Result<std::vector<BufferWrite>> next_inputs();
  // What to read back after the launch.
  std::vector<BufferRead> reads() const;
  // The oracle takes the same step. Independent of what the device answers.
  void expect();
  // Findings on the bytes read, one or more per tensor. Wrong sizes are a bug of ours.
  std::vector<tasks::Finding> judge(const std::vector<std::string>& read) const;

  int step() const { return step_; }        // of the last inputs, from 0
  std::int64_t position() const { return spec_.context + step_; }

 private:
  std::vector<tasks::Finding> unwritten_rows(const tasks::Tensor& tensor, std::span<const std::byte> got,
                                             std::span<const std::byte> before) const;
  std::span<const std::byte> residual_of(const tasks::Tensor& output) const;

  const tasks::Task& task_;
  tasks::Oracle& oracle_;
  ChainSpec spec_;
  int step_ = -1;
  std::vector<tasks::Bytes> before_;        // states in task order, as uploaded
  tasks::Bytes token_;
  std::vector<tasks::Bytes> poison_;        // of this step's outputs
  tasks::OracleStep expected_;
};

}  // namespace onelaunch::sandbox
