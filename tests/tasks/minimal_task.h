#pragma once
// The smallest task file that has every part, for tests that change one line of it.

#include <string>

#include "base/check.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

inline std::string minimal_task() {
  return R"({
  "format": "onelaunch.task/1",
  "name": "small",
  "title": "A small task",
  "prose": ["First line.", "Second line."],
  "rules": "None.",
  "dims": {"hidden": 256, "layers": 2, "kv": 64},
  "weights": [
    {"for": {"i": "layers"}, "each": [
      {"name": "layer.{i}.norm", "dtype": "bf16", "shape": ["hidden"], "nominal": {"constant": 1}, "strict": {"normal": 0.25, "mean": 1}},
      {"name": "layer.{i}.up", "int4": {"in": "hidden", "out": "hidden", "group": 128}, "nominal": {"normal": 0.02}},
      {"name": "layer.{i}.k", "dtype": "bf16", "shape": ["kv", "hidden"], "nominal": {"normal": 0.02}}
    ]}
  ],
  "states": [
    {"for": {"i": "layers"}, "each": [
      {"name": "layer.{i}.cache", "dtype": "bf16", "shape": ["capacity", "kv"], "nominal": {"normal": 0.5, "spread": 2}}
    ]}
  ],
  "inputs": [{"name": "token", "dtype": "bf16", "shape": ["hidden"], "nominal": {"normal": 1}}],
  "outputs": [{"name": "y", "dtype": "bf16", "shape": ["hidden"]}],
  "aliases": {"x.0": "token", "x.{layers}": "y"},
  "blocks": {
    "up": [
      {"kind": "rmsnorm", "in": ["x.{n}", "layer.{n}.norm"], "out": ["layer.{n}.xn"], "attributes": {"eps": 1e-6}, "round": "bf16"},
      {"kind": "linear", "in": ["layer.{n}.xn", "layer.{n}.k"], "out": ["layer.{n}.k_new"], "round": "bf16"},
      {"kind": "append", "in": ["layer.{n}.k_new"], "out": ["layer.{n}.cache"], "round": "bf16"},
      {"kind": "linear_int4", "in": ["layer.{n}.xn", "layer.{n}.up"], "out": ["layer.{n}.u"], "round": "bf16"},
      {"kind": "add", "in": ["x.{n}", "layer.{n}.u"], "out": ["x.{n+1}"], "round": "bf16"}
    ]
  },
  "ops": [
    {"for": {"i": "layers"}, "each": [{"use": "up", "with": {"n": "i"}}]}
  ],
  "sweep": [{"context": 8, "steps": 2}],
  "tolerances": {
    "output": {"rel_l2": 0.02, "max_rms": 0.06, "max_rel": 0.0078125},
    "state": {"rel_l2": 0.01, "max_rms": 0.05, "max_rel": 0.0078125},
    "tensors": {"layer.*.cache": {"rel_l2": 0.005, "max_rms": 0.02, "max_rel": 0.0078125}}
  },
  "variants": {"tiny": {"title": "A tiny task", "dims": {"hidden": 128}, "sweep": [{"context": 4, "steps": 1}]}}
}
)";
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  OL_CHECK(at != std::string::npos, "the text to replace: " + from);
  return text.replace(at, from.size(), to);
}

// The 1-based line of the first occurrence.
inline int line_of(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  OL_CHECK(at != std::string::npos, "the text to find: " + what);
  int line = 1;
  for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n';
  return line;
}

inline Task parsed(const std::string& text, const std::string& variant = "") {
  Result<Task> task = parse_task(text, "task.json", variant);
  OL_CHECK(task.has_value(), task ? "" : task.error().message);
  return *std::move(task);
}

}  // namespace onelaunch::tasks
