#pragma once
// The op kinds of each family, for the registry.

#include "tasks/ops/op.h"

namespace onelaunch::tasks {

OpKind rmsnorm_kind();
OpKind linear_kind();
OpKind linear_int4_kind();
OpKind swiglu_int4_kind();
OpKind experts_int4_kind();
OpKind topk_routing_kind();
OpKind add_kind();
OpKind silu_mul_kind();
OpKind slice_kind();
OpKind append_kind();
OpKind rope_pairs_kind();
OpKind rope_half_kind();
OpKind causal_conv_update_kind();
OpKind gated_delta_update_kind();
OpKind gqa_attention_kind();
OpKind mla_attention_kind();

}  // namespace onelaunch::tasks
