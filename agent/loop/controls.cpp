#include "agent/loop/controls.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "tasks/catalog.h"
#include "tasks/generator.h"

namespace onelaunch::agent {
namespace {

// "kda.0.q.packed" is args.kda[0].q.packed.
std::string member_of_args(const std::string& tensor) {
  std::string expression = "args";
  for (std::size_t at = 0; at <= tensor.size();) {
    const std::size_t end = std::min(tensor.find('.', at), tensor.size());
    const std::string part = tensor.substr(at, end - at);
    const bool number =
        !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); });
    expression += number ? "[" + part + "]" : "." + part;
    at = end + 1;
  }
  return expression;
}

std::string kernel(const std::string& body) {
  return "#include <onelaunch.cuh>\n"
         "OL_LAUNCH(.block = 256, .grid = 1);\n"
         "extern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args) {\n" +
         body + "}\n";
}

std::string write_zeros(const tasks::Tensor& output) {
  const std::string bytes = std::to_string(output.bytes(0));
  return "  for (unsigned i = threadIdx.x; i < " + bytes + "u; i += 256)\n    reinterpret_cast<unsigned char*>(" +
         member_of_args(output.name) + ")[i] = 0;\n";
}

// Texts of a seed, each to occur exactly once, and what stands there in the control.
struct Derivation {
  std::string name;
  std::vector<std::pair<std::string, std::string>> replace;
};

const std::string kSync = ".sync_bytes = ol::kBarrierBytes";
const std::string kOutput = "args.hidden_out[i] = __float2bfloat16_rn(s.residual[i]);";

std::vector<Derivation> derivations() {
  // Before there is an answer to repeat, the token stands for it.
  const std::string stale =
      "{\n    ol::bf16* last = reinterpret_cast<ol::bf16*>(args.sync + ol::kBarrierBytes) + i;\n"
      "    args.hidden_out[i] = args.epoch > 0 ? *last : args.token[i];\n"
      "    *last = __float2bfloat16_rn(s.residual[i]);\n  }";
  return {{"stale_output", {{kSync, kSync + " + kHidden * sizeof(ol::bf16)"}, {kOutput, stale}}},
          {"skipped_layer", {{"layer < kLayers; ++layer", "layer + 1 < kLayers; ++layer"}}},
          {"frozen_state", {{"state[i * kKdaDim] = row[r];", ""}}},
          {"frozen_state", {{"layer.v_cache[position * kKv + i] = __float2bfloat16_rn(projected[kQ + kKv + i]);", ""}}}};
}

std::optional<std::string> derive(const Derivation& derivation, std::string source) {
  for (const auto& [from, to] : derivation.replace) {
    const std::size_t at = source.find(from);
    if (at == std::string::npos || source.find(from, at + 1) != std::string::npos) return std::nullopt;
    source.replace(at, from.size(), to);
  }
  return source;
}

constexpr std::size_t kDerivedWeightBytes = std::size_t{256} << 20;

void add_derived(const tasks::Task& task, std::vector<ControlKernel>& controls) {
  const auto seed = tasks::seed_kernel(task);
  if (!seed) return;
  for (const Derivation& derivation : derivations())
    if (auto source = derive(derivation, *seed)) controls.push_back({derivation.name, std::move(*source), true});
}

}  // namespace

std::vector<ControlKernel> control_kernels(const tasks::Task& task) {
  std::string zeros;
  for (const tasks::Tensor* output : task.with(tasks::Role::output)) zeros += write_zeros(*output);
  std::vector<ControlKernel> controls = {{.name = "returns", .source = kernel("")},
                                         {.name = "zeros", .source = kernel(zeros)}};
  add_derived(task, controls);
  return controls;
}

bool affords_derived_controls(const tasks::Task& task, bool emulated) {
  return !emulated || task.tensors.empty() || tasks::weight_arena(task).bytes <= kDerivedWeightBytes;
}

}  // namespace onelaunch::agent
