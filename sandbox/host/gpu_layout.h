#pragma once
// Where a task's tensors lie in the memory of a GPU worker that holds several sets of weights.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sandbox/protocol/messages.h"
#include "tasks/generator.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

struct WeightSet {
  tasks::InputSet inputs = tasks::InputSet::nominal;
  int index = 0;
};

struct Place {
  std::string buffer;
  std::uint64_t addend = 0;
};
// From a buffer's name on a device with one set of everything (buffer_name()) to where it lies here.
using Redirections = std::map<std::string, Place>;
void redirect(LaunchOrder& order, const Redirections& places);

// The first set of each kind has a guarded buffer for every tensor, so that reading past one is met; the others, which
// only serve to rotate, lie in one buffer each. Tensors that are drawn alike on strict inputs are shared.
class GpuLayout {
 public:
  // Borrows the task. `sets`: of each kind.
  GpuLayout(const tasks::Task& task, int sets);

  int sets() const { return sets_; }
  // Whether strict inputs have weights of their own.
  bool strict_sets() const;
  // Sets that hold something of their own, nominal ones first.
  std::vector<WeightSet> weight_sets() const;
  std::vector<BufferSpec> weight_buffers() const;
  std::uint64_t weight_bytes() const;

  Place weight(const tasks::Tensor& tensor, WeightSet set) const;
  Redirections weights(WeightSet set) const;
  // Drawn in another way on strict inputs, so that strict sets have their own.
  bool own_in_strict(const tasks::Tensor& tensor) const { return own_in_strict_.at(tensor.name); }

  // Set 0 is the one that the CPU oracle knows.
  static std::uint64_t weight_seed(std::uint64_t session_weight_seed, int index);

 private:
  const tasks::Task& task_;
  int sets_;
  tasks::WeightArena arena_;
  std::map<std::string, std::uint64_t> offset_;
  std::map<std::string, bool> own_in_strict_;
};

}  // namespace onelaunch::sandbox
