#include "agent/loop/controls.h"

#include <algorithm>
#include <cctype>

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

}  // namespace

std::vector<ControlKernel> control_kernels(const tasks::Task& task) {
  std::string zeros;
  for (const tasks::Tensor* output : task.with(tasks::Role::output)) zeros += write_zeros(*output);
  return {{.name = "returns", .source = kernel("")}, {.name = "zeros", .source = kernel(zeros)}};
}

}  // namespace onelaunch::agent
