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
  // "finite", "element", "rel_l2", "update", "update_scale", "kept", "added", "low_bits", "old_row"
  std::string test;
  std::string tensor;
  std::size_t index = 0;       // of the worst element
  double got = 0, want = 0, tolerance = 0;  // what the test compares: values, or norms for rel_l2
  double over = 0;             // the error over what is tolerated: 1 is the limit; infinite where nothing is tolerated
  std::string detail;          // one sentence
};

// "kda.1.S[head 3, row 17, column 90]", "c_kv[row 32, column 5]", "hidden_out[17]"
std::string element_name(const Tensor& tensor, std::size_t index);

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

// The same comparison, with the worst finding of every test of every tensor: what a grade is calibrated with.
std::vector<Finding> measure(const Task& task, const std::vector<TensorView>& tensors, std::int64_t first_new_row,
                             std::int64_t end_row);

// What compare() makes of the findings of one tensor; there must be one.
Finding decisive(const std::vector<Finding>& of_one_tensor);

}  // namespace onelaunch::tasks
