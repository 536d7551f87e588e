#pragma once
// Compares what a candidate wrote with what the oracle says. Pure: knows no device.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/oracle.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

// The worst finding of one comparison, whether within tolerance or not.
struct Finding {
  bool ok = true;
  std::string test;            // "finite", "element", "rel_l2", "update", "update_scale", "old_row"
  std::string tensor;
  std::size_t index = 0;       // of the worst element
  double got = 0, want = 0, tolerance = 0;  // what the test compares: values, or norms for rel_l2
  std::string detail;          // one sentence
};

struct TensorView {
  const Tensor* tensor;
  std::span<const std::byte> got, want;
  // The state before the chain. Of an output with the input's shape: the step's input, so that the update is judged
  // too; else empty.
  std::span<const std::byte> before;
};

// Every element of every tensor, states head by head or row by row. NaN and Inf fail; rows of a cache outside
// [first_new_row, end_row) must be bit-identical to `before`. One finding for each tensor: its first failure, or the
// pass that came closest to failing.
std::vector<Finding> compare(const Task& task, const std::vector<TensorView>& tensors, std::int64_t first_new_row,
                             std::int64_t end_row);

}  // namespace onelaunch::tasks
