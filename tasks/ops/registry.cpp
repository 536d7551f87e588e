#include <algorithm>

#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {

std::span<const OpKind> op_kinds() {
  static const std::vector<OpKind> kinds = {rmsnorm_kind(),
                                            linear_kind(),
                                            linear_int4_kind(),
                                            swiglu_int4_kind(),
                                            experts_int4_kind(),
                                            topk_routing_kind(),
                                            add_kind(),
                                            silu_mul_kind(),
                                            slice_kind(),
                                            append_kind(),
                                            rope_pairs_kind(),
                                            rope_half_kind(),
                                            causal_conv_update_kind(),
                                            gated_delta_update_kind(),
                                            gqa_attention_kind(),
                                            mla_attention_kind()};
  return kinds;
}

const OpKind* find_op(const std::string& kind) {
  const auto kinds = op_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const OpKind& k) { return kind == k.name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace onelaunch::tasks
