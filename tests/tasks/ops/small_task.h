#pragma once
// Tasks of one or two ops, built without a file.

#include <string>
#include <vector>

#include "tasks/ops/op.h"

namespace onelaunch::tasks {

struct SmallTask {
  Task task;

  SmallTask& tensor(const std::string& name, Role role, DType dtype, std::vector<std::int64_t> shape) {
    task.tensors.push_back(
        {.name = name, .role = role, .dtype = dtype, .shape = std::move(shape), .nominal = {}, .strict = {}});
    return *this;
  }
  SmallTask& input(const std::string& name, std::int64_t size) { return tensor(name, Role::input, DType::f32, {size}); }
  SmallTask& weight(const std::string& name, std::vector<std::int64_t> shape) {
    return tensor(name, Role::weight, DType::bf16, std::move(shape));
  }
  SmallTask& int4(const std::string& name, std::int64_t experts, std::int64_t in, std::int64_t out) {
    task.quantised.push_back(
        {.name = name, .experts = experts, .in = in, .out = out, .group = 128, .nominal = {}, .strict = {}});
    return weight(name + ".scale", {experts, in / 128, out})
        .weight(name + ".zero", {experts, in / 128, out})
        .tensor(name + ".packed", Role::weight, DType::u8, {experts, in / 2, out});
  }
  SmallTask& op(const std::string& kind, std::vector<std::string> in, std::vector<std::string> out,
                std::map<std::string, double> attributes = {}, DType round = DType::f32) {
    task.ops.push_back({.name = out.empty() ? kind : out[0],
                        .kind = kind,
                        .inputs = std::move(in),
                        .outputs = std::move(out),
                        .attributes = std::move(attributes),
                        .round_to = round,
                        .line = int(task.ops.size()) + 1});
    return *this;
  }
};

}  // namespace onelaunch::tasks
