// causal_conv_update

#include <algorithm>

#include "base/bfloat16.h"
#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

Result<std::vector<Value>> infer(const OpView& view) {
  const std::int64_t channels = extent(view.in[0], 0), width = extent(view.in[1], 1);
  const Operand& window = view.out[1];
  return Checks()
      .vector(view.in[0])
      .type(view.in[1], DType::bf16)
      .type(window, DType::bf16)
      .require(view.in[1].shape.size() == 2 && extent(view.in[1], 0) == channels && width >= 2,
               view.in[1].name + " must have shape [" + std::to_string(channels) + ", width], width at least 2")
      .require(window.shape == std::vector{width - 1, channels},
               window.name + " must have shape [" + std::to_string(width - 1) + ", " + std::to_string(channels) + "]")
      .gives({{view.op->round_to, {channels}}, {DType::bf16, window.shape}});
}

void evaluate(OpRun& run) {
  const auto x = run.in(0);
  const auto y = run.out(0);
  const auto window = run.bf16_state(1);
  const std::vector<double> weight = run.doubles(1);
  const std::size_t channels = x.size(), past = window.size() / channels, width = past + 1;
  for (std::size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::size_t t = 0; t < past; ++t) sum += weight[c * width + t] * bf16_to_float(window[t * channels + c]);
    y[c] = silu(sum + weight[c * width + past] * x[c]);
  }
  std::copy(window.begin() + static_cast<std::ptrdiff_t>(channels), window.end(), window.begin());
  std::transform(x.begin(), x.end(), window.end() - static_cast<std::ptrdiff_t>(channels), double_to_bf16);
}

double flops(const OpView& view, std::int64_t) {
  return static_cast<double>(2 * view.in[1].elements() + 4 * extent(view.in[0], 0));
}

constexpr const char* kSource = R"cuda(
template <int channels, int width, class X, class Y>
__device__ void causal_conv_update(const X* x, const bf16* weight, bf16* window, Y* y) {
  const int c = blockIdx.x * 256 + threadIdx.x;
  if (c >= channels) return;
  Sum sum = load(x, c) * load(weight, c * width + width - 1);
  for (int t = 0; t < width - 1; ++t) sum += load(window, t * channels + c) * load(weight, c * width + t);
  store(y, c, silu(sum));
  for (int t = 0; t < width - 2; ++t) window[t * channels + c] = window[(t + 1) * channels + c];
  store(window, (width - 2) * channels + c, load(x, c));
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const std::int64_t channels = extent(view.in[0], 0);
  builder.source(kSource);
  builder.launch(view, {.function = instance("causal_conv_update", {channels, extent(view.in[1], 1)}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), builder.of(view.out[1]),
                                     builder.of(view.out[0])},
                        .grid = blocks_for(channels, 256)});
}

}  // namespace

OpKind causal_conv_update_kind() {
  using Is = Parameter::Is;
  return {.name = "causal_conv_update",
          .documentation =
              "Depthwise causal convolution of one step, then SiLU: y[c] = silu(sum over t < width-1 of "
              "weight[c][t] * window[t][c] + weight[c][width-1] * x[c]). Then the window moves up by one row "
              "and takes bf16(x) as its last",
          .inputs = {{"x", Is::value}, {"weight", Is::weight}},
          .outputs = {{"y", Is::value}, {"window", Is::state}},
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
