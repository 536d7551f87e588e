// linear

#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

Result<std::vector<Value>> infer(const OpView& view) {
  const std::int64_t in = extent(view.in[0], 0), out = extent(view.in[1], 0);
  return Checks()
      .vector(view.in[0])
      .type(view.in[1], DType::bf16)
      .require(view.in[1].shape == std::vector{out, in},
               view.in[1].name + " must have shape [out, " + std::to_string(in) + "]")
      .gives({{view.op->round_to, {out}}});
}

void evaluate(OpRun& run) { multiply_rows(*run.place.pool, run.bf16(1), run.in(0), run.out(0)); }

double flops(const OpView& view, std::int64_t) { return 2.0 * static_cast<double>(view.in[1].elements()); }

constexpr const char* kSource = R"cuda(
// y = weight x, weight (out, in): a warp a row.
template <int in, int out, class X, class Y>
__device__ void linear(const X* x, const bf16* weight, Y* y) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= out) return;
  const bf16* mine = weight + (long long)row * in;
  Sum sums[8] = {};
  if constexpr (in % 8 == 0) {
#pragma unroll 4
    for (int k = lane * 8; k < in; k += 256) {
      Sum a[8], b[8];
      load8(x, k, a);
      load8(mine, k, b);
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] += a[i] * b[i];
    }
  } else {
    for (int k = lane; k < in; k += 32) sums[0] += load(x, k) * load(mine, k);
  }
#pragma unroll
  for (int half = 4; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  const Sum sum = warp_sum(sums[0]);
  if (lane == 0) store(y, row, sum);
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const std::int64_t in = extent(view.in[0], 0), out = extent(view.in[1], 0);
  builder.source(kSource);
  builder.launch(view, {.function = instance("linear", {in, out}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), builder.of(view.out[0])},
                        .grid = blocks_for(out, 8)});
}

}  // namespace

OpKind linear_kind() {
  using Is = Parameter::Is;
  return {.name = "linear",
          .documentation = "y[o] = sum over i of weight[o][i] * x[i]; weight is bf16 (out, in)",
          .inputs = {{"x", Is::value}, {"weight", Is::weight}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
