// rmsnorm

#include <cmath>

#include "tasks/ops/checks.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"
#include "tasks/ops/run.h"

namespace onelaunch::tasks {
namespace {

Result<std::vector<Value>> infer(const OpView& view) {
  return Checks()
      .vector(view.in[0])
      .vector(view.in[1], extent(view.in[0], 0))
      .require(view.attribute("eps") >= 0, "eps must not be negative")
      .gives({{view.op->round_to, view.in[0].shape}});
}

void evaluate(OpRun& run) {
  const auto x = run.in(0);
  const auto y = run.out(0);
  const std::vector<double> weight = run.doubles(1);
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + run.view.attribute("eps"));
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * scale * weight[i];
}

double flops(const OpView& view, std::int64_t) { return 4.0 * static_cast<double>(extent(view.in[0], 0)); }

constexpr const char* kSource = R"cuda(
// eps comes as the bits of a double.
template <int n, long long eps_bits, class X, class W, class Y>
__device__ void rmsnorm(const X* x, const W* weight, Y* y) {
  Sum squares = 0;
  for (int i = threadIdx.x; i < n; i += 256) squares += load(x, i) * load(x, i);
  const Sum scale = 1 / sqrt(block_sum(squares) / n + (Sum)__longlong_as_double(eps_bits));
  for (int i = threadIdx.x; i < n; i += 256) store(y, i, load(x, i) * scale * load(weight, i));
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  builder.source(kSource);
  builder.launch(view, {.function = instance("rmsnorm", {extent(view.in[0], 0), double_bits(view.attribute("eps"))}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), builder.of(view.out[0])}});
}

}  // namespace

OpKind rmsnorm_kind() {
  using Is = Parameter::Is;
  return {.name = "rmsnorm",
          .documentation = "y[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i]",
          .inputs = {{"x", Is::value}, {"weight", Is::weight}},
          .outputs = {{"y", Is::value}},
          .attributes = {{"eps", "added to the mean of squares", true, 0, false}},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
