#pragma once
// All weights of a task from one seed, in sealed memory that workers map and nobody can change.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tasks/generator.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

class Weights {
 public:
  // Borrows the task. Fails (unavailable) when there is no memory for them.
  static Result<std::shared_ptr<const Weights>> make(const tasks::Task& task, std::uint64_t seed, tasks::InputSet set,
                                                     int threads);
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  const tasks::WeightArena& arena() const { return arena_; }
  std::span<const std::byte> bytes() const { return {bytes_, arena_.bytes}; }
  int fd() const { return memory_.get(); }

 private:
  explicit Weights(const tasks::Task& task) : arena_(tasks::weight_arena(task)) {}
  tasks::WeightArena arena_;
  UniqueFd memory_;
  const std::byte* bytes_ = nullptr;
  std::size_t mapped_ = 0;
};

// Whether the two input sets differ in this weight, or in any.
bool strict_differs(const tasks::Task& task, const tasks::Tensor& weight);
bool strict_weights_differ(const tasks::Task& task);

}  // namespace onelaunch::sandbox
