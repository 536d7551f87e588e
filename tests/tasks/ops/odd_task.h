#pragma once
// A task with every kind of op that has kernels of its own shape, for tests.

namespace onelaunch::tasks {

// Extents that no vector, warp or block divides, where the ops allow them.
inline constexpr const char* kOddTask = R"json({
  "format": "onelaunch.task/1", "name": "odd", "title": "Odd shapes", "prose": "None.", "rules": "None.",
  "dims": {"hidden": 128, "heads": 6, "kv_heads": 2, "key": 20, "delta_heads": 3, "keys": 21, "values": 37, "mla_heads": 3,
           "nope": 10, "rope": 6, "v_dim": 7, "experts": 5, "topk": 3},
  "weights": [
    {"name": "norm", "dtype": "bf16", "shape": ["hidden"], "nominal": {"normal": 0.5, "mean": 1}},
    {"name": "odd", "dtype": "bf16", "shape": [37, "hidden"], "nominal": {"normal": 0.1}},
    {"name": "back", "dtype": "bf16", "shape": ["hidden", 37], "nominal": {"normal": 0.15}},
    {"name": "q", "int4": {"in": "hidden", "out": "heads * key", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "k", "int4": {"in": "hidden", "out": "kv_heads * key", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "v", "int4": {"in": "hidden", "out": "kv_heads * key", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "dq", "int4": {"in": "hidden", "out": "delta_heads * keys", "group": 128}, "nominal": {"normal": 0.05}},
    {"name": "dk", "int4": {"in": "hidden", "out": "delta_heads * keys", "group": 128}, "nominal": {"normal": 0.05}},
    {"name": "dv", "int4": {"in": "hidden", "out": "delta_heads * values", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "beta", "dtype": "bf16", "shape": ["delta_heads", "hidden"], "nominal": {"normal": 0.1}},
    {"name": "mq", "int4": {"in": "hidden", "out": "mla_heads * (nope + rope)", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "up", "int4": {"in": "hidden", "out": "mla_heads * (nope + v_dim)", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "router", "dtype": "bf16", "shape": ["experts", "hidden"], "nominal": {"normal": 0.2}},
    {"name": "gate", "int4": {"experts": "experts", "in": "hidden", "out": "hidden", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "raise", "int4": {"experts": "experts", "in": "hidden", "out": "hidden", "group": 128}, "nominal": {"normal": 0.1}},
    {"name": "down", "int4": {"experts": "experts", "in": "hidden", "out": 35, "group": 128}, "nominal": {"normal": 0.1}}
  ],
  "states": [
    {"name": "k_cache", "dtype": "bf16", "shape": ["capacity", "kv_heads * key"], "nominal": {"normal": 1}},
    {"name": "v_cache", "dtype": "bf16", "shape": ["capacity", "kv_heads * key"], "nominal": {"normal": 1}},
    {"name": "S", "dtype": "f32", "shape": ["delta_heads", "keys", "values"], "nominal": {"normal": 0.3}},
    {"name": "latents", "dtype": "bf16", "shape": ["capacity", "hidden"], "nominal": {"normal": 1}},
    {"name": "rotated", "dtype": "bf16", "shape": ["capacity", "rope"], "nominal": {"normal": 1}}
  ],
  "inputs": [{"name": "token", "dtype": "bf16", "shape": ["hidden"], "nominal": {"normal": 1}}],
  "outputs": [
    {"name": "attended", "dtype": "bf16", "shape": ["heads * key"]}, {"name": "recalled", "dtype": "bf16", "shape": ["delta_heads * values"]},
    {"name": "raised", "dtype": "bf16", "shape": ["mla_heads * v_dim"]}, {"name": "mixed", "dtype": "bf16", "shape": [35]}
  ],
  "ops": [
    {"kind": "rmsnorm", "in": ["token", "norm"], "out": ["n"], "attributes": {"eps": 1e-6}, "round": "bf16"},
    {"kind": "linear", "in": ["n", "odd"], "out": ["o"], "round": "f32"},
    {"kind": "linear", "in": ["o", "back"], "out": ["x"], "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "q"], "out": ["q_raw"], "round": "bf16"},
    {"kind": "rope_half", "in": ["q_raw"], "out": ["q_rot"], "attributes": {"heads": "heads", "theta": 500, "rotated": 6}, "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "k"], "out": ["k_new"], "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "v"], "out": ["v_new"], "round": "bf16"},
    {"kind": "append", "in": ["k_new"], "out": ["k_cache"], "round": "bf16"},
    {"kind": "append", "in": ["v_new"], "out": ["v_cache"], "round": "bf16"},
    {"kind": "gqa_attention", "in": ["q_rot", "k_cache", "v_cache"], "out": ["attended"], "attributes": {"heads": "heads", "kv_heads": "kv_heads"}, "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "dq"], "out": ["dq_raw"], "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "dk"], "out": ["dk_raw"], "round": "f32"},
    {"kind": "linear_int4", "in": ["x", "dv"], "out": ["dv_raw"], "round": "bf16"},
    {"kind": "linear", "in": ["x", "beta"], "out": ["b"], "round": "bf16"},
    {"kind": "gated_delta_update", "in": ["dq_raw", "dk_raw", "dv_raw", "dq_raw", "b"], "out": ["recalled", "S"], "round": "bf16"},
    {"kind": "slice", "in": ["x"], "out": ["r_new"], "attributes": {"begin": 3, "size": "rope"}, "round": "bf16"},
    {"kind": "append", "in": ["x"], "out": ["latents"], "round": "bf16"},
    {"kind": "append", "in": ["r_new"], "out": ["rotated"], "round": "bf16"},
    {"kind": "linear_int4", "in": ["x", "mq"], "out": ["mq_raw"], "round": "f32"},
    {"kind": "mla_attention", "in": ["mq_raw", "up", "latents", "rotated"], "out": ["raised"], "attributes": {"heads": "mla_heads", "nope": "nope"}, "round": "bf16"},
    {"kind": "linear", "in": ["x", "router"], "out": ["logits"], "round": "f32"},
    {"kind": "topk_routing", "in": ["logits"], "out": ["ids", "weights"], "attributes": {"k": "topk", "eps": 0.1, "scale": 1.7}, "round": "f32"},
    {"kind": "experts_int4", "in": ["x", "ids", "weights", "gate", "raise", "down"], "out": ["mixed"], "round": "bf16"}
  ],
  "sweep": [{"context": 33, "steps": 2}],
  "tolerances": {
    "output": {"rel_l2": 0.02, "max_rms": 0.06, "max_rel": 0.0078125}, "state": {"rel_l2": 0.02, "max_rms": 0.06, "max_rel": 0.0078125}
  }
})json";

}  // namespace onelaunch::tasks
