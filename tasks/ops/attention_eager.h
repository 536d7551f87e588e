#pragma once
// Eager kernels of attention: scores, softmax and the weighted sum of values as three launches over f32 buffers.

#include "tasks/ops/eager_builder.h"

namespace onelaunch::tasks {

// Kernels "softmax<heads>(scores, position, capacity)"; scores are float [heads][capacity], rows 0 to position count.
void eager_softmax(const OpView& view, EagerBuilder& builder, const EagerOperand& scores, std::int64_t heads);

// float [heads][capacity]
EagerOperand eager_scores(EagerBuilder& builder, std::int64_t heads);

}  // namespace onelaunch::tasks
