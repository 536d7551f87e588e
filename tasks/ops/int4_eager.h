#pragma once
// Eager kernels for int4 weights: the matrix is dequantised to memory, then multiplied, as a framework would do it.

#include "tasks/ops/eager_builder.h"

namespace onelaunch::tasks {

// Experts that a launch works on: all `slots` of them one after the other, or those whose ids a buffer lists.
struct EagerExperts {
  std::int64_t slots = 1;
  const EagerOperand* ids = nullptr;  // int[slots]
};

// A bf16 buffer [slots][in][out] that receives the dequantised weight. Weights of one size share it.
EagerOperand eager_dequantise(const OpView& view, EagerBuilder& builder, const Operand& weight,
                              const EagerExperts& experts);

// y[slot] = x[slot or 0] times matrix[slot]; x and y have `slots` rows, or x has one for all when `shared_x`.
struct EagerProduct {
  EagerOperand x, matrix, y;
  std::int64_t in, out, slots;
  bool shared_x;
};
void eager_multiply(const OpView& view, EagerBuilder& builder, const EagerProduct& product);

}  // namespace onelaunch::tasks
