#pragma once
// The tests that one tensor of a comparison goes through, and the worst finding of each.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/compare.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

using Values = std::vector<double>;
Values values_of(DType dtype, std::span<const std::byte> bytes);

struct Slice {
  std::size_t first, count;
  std::string where;  // "row 2080", "head 3"; empty for the whole tensor
};

class Judge {
 public:
  // Borrows all of them. `first`: which element of the tensor the first value is.
  Judge(const Tensor& tensor, const Tolerance& tolerance, const Values& got, const Values& want, std::size_t first = 0)
      : tensor_(tensor), tolerance_(tolerance), got_(got), want_(want), first_(first) {}

  // In the order in which they matter; one a test.
  std::vector<Finding> findings() const;

  bool finite(const Slice& slice);
  // |got - want| <= max_rms * rms(want) + max_rel * |want| for every element.
  void elements(const Slice& slice);
  // The error's norm over the reference's.
  void relative(const Slice& slice);
  // The same for what the computation added to its input: the residual must not hide dead layers.
  void update(const Values& input);
  // A factor common to all elements, which a relative error is slow to see. `input` as in update(), or zeros.
  void scale(const Values& input, const std::string& what);
  // A slice of rows of `row` elements, of which each keeps a multiple of what it was and gains something else: how
  // much of the old content is there, and how much of the new. No knowledge of how the state is updated is needed.
  void kept_and_added(const Slice& slice, const Values& before, std::size_t row);
  // Numbers of fewer bits in words of 32 leave the low ones zero. The bytes of an f32 state.
  void low_bits(std::span<const std::byte> got, std::span<const std::byte> want);
  void old_row(std::size_t element);

 private:
  double allowed(std::size_t i, double rms) const;
  std::string name_of(const Slice& slice) const;
  void note(bool ok, const char* test, std::size_t index, double got, double want, double tolerance, double over,
            std::string detail);

  const Tensor& tensor_;
  const Tolerance& tolerance_;
  const Values& got_;
  const Values& want_;
  std::size_t first_;
  std::vector<Finding> worst_;
};

}  // namespace onelaunch::tasks
