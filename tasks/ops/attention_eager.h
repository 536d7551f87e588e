#pragma once
// Eager kernels of attention: scores, softmax and the weighted sum of rows as launches over f32 buffers.

#include "tasks/ops/eager_builder.h"

namespace onelaunch::tasks {

// float [heads][capacity]; rows 0 to position count.
EagerOperand eager_scores(EagerBuilder& builder, std::int64_t heads);

// Adds the device functions that kernels of scores share: `score_rows`, and kScoredRows, the rows that a warp scores.
void eager_score_source(EagerBuilder& builder);
constexpr std::int64_t kEagerScoredRows = 4;

// Scores become weights that sum to one for each head.
void eager_softmax(const OpView& view, EagerBuilder& builder, const EagerOperand& scores, std::int64_t heads);

// y[head][i] = sum over rows of weights[head][row] * rows[row][head / (heads / kv_heads)][i], i < width, rows bf16.
struct EagerMix {
  EagerOperand weights, rows, y;
  std::int64_t heads, kv_heads, width;
};
void eager_mix(const OpView& view, EagerBuilder& builder, const EagerMix& mix);

}  // namespace onelaunch::tasks
