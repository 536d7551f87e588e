// rope_pairs, rope_half

#include <algorithm>
#include <cmath>

#include "tasks/ops/checks.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"
#include "tasks/ops/run.h"

namespace onelaunch::tasks {
namespace {

// Which elements of a head are rotated, and how the two of a pair lie.
struct Layout {
  std::int64_t heads, head, rotated, first, partner;  // pair i is at first + i * step and `partner` further
  std::int64_t step;
};

Layout layout_of(const OpView& view) {
  Layout layout{};
  layout.heads = view.count("heads");
  layout.head = extent(view.in[0], 0) / layout.heads;
  layout.rotated = view.count("rotated") == 0 ? layout.head : view.count("rotated");
  layout.first = layout.head - layout.rotated;
  const bool halves = view.op->kind == "rope_half";
  layout.partner = halves ? layout.rotated / 2 : 1;
  layout.step = halves ? 1 : 2;
  return layout;
}

Result<std::vector<Value>> infer(const OpView& view) {
  const Layout layout = layout_of(view);
  return Checks()
      .vector(view.in[0])
      .require(extent(view.in[0], 0) == layout.heads * layout.head, "x does not divide into that many heads")
      .require(layout.rotated <= layout.head, "rotated is more than a head has")
      .require(layout.rotated % 2 == 0 && layout.rotated > 0, "an even number of elements must be rotated")
      .require(view.attribute("theta") > 0, "theta must be positive")
      .gives({{view.op->round_to, view.in[0].shape}});
}

void evaluate(OpRun& run) {
  const Layout layout = layout_of(run.view);
  const double theta = run.view.attribute("theta"), position = static_cast<double>(run.place.position);
  const auto x = run.in(0);
  const auto y = run.out(0);
  std::copy(x.begin(), x.end(), y.begin());
  for (std::int64_t i = 0; i < layout.rotated / 2; ++i) {
    const double angle =
        position * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(layout.rotated));
    const double cosine = std::cos(angle), sine = std::sin(angle);
    for (std::int64_t head = 0; head < layout.heads; ++head) {
      const auto a = static_cast<std::size_t>(head * layout.head + layout.first + i * layout.step);
      const auto b = a + static_cast<std::size_t>(layout.partner);
      y[a] = x[a] * cosine - x[b] * sine;
      y[b] = x[b] * cosine + x[a] * sine;
    }
  }
}

double flops(const OpView& view, std::int64_t) {
  const Layout layout = layout_of(view);
  return 3.0 * static_cast<double>(layout.heads * layout.rotated);
}

constexpr const char* kSource = R"cuda(
// 2^x for x <= 0, good to a few bits of a double: the angle of a late position has no other accuracy.
__device__ inline double power_of_two(double x) {
  const double whole = rint(x), y = (x - whole) * 0.6931471805599453;
  double sum = 1;
  for (int n = 14; n > 0; --n) sum = 1 + sum * y * (1.0 / n);
  return whole < -1000 ? 0 : sum * __longlong_as_double((1023 + (long long)whole) << 52);
}
// A thread a pair, and a thread for each element that stays. log2(theta) comes as the bits of a double.
template <int heads, int head, int rotated, int step, int partner, long long log_theta_bits, class X, class Y>
__device__ void rope(const X* x, Y* y, long long position) {
  constexpr int still = head - rotated, items = still + rotated / 2;
  const int item = blockIdx.x * 256 + threadIdx.x;
  if (item >= heads * items) return;
  const int base = item / items * head, i = item % items;
  if (i < still) {
    store(y, base + i, load(x, base + i));
    return;
  }
  const double exponent = __longlong_as_double(log_theta_bits) * (-2.0 / rotated) * (i - still);
  const double turns = (double)position * power_of_two(exponent) * 0.15915494309189535;
  Sum sine, cosine;
  sincospi((Sum)(2 * (turns - rint(turns))), &sine, &cosine);
  const int at = base + still + (i - still) * step;
  const Sum a = load(x, at), b = load(x, at + partner);
  store(y, at, a * cosine - b * sine);
  store(y, at + partner, b * cosine + a * sine);
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const Layout layout = layout_of(view);
  builder.source(kSource);
  builder.launch(view, {.function = instance("rope", {layout.heads, layout.head, layout.rotated, layout.step,
                                                      layout.partner, double_bits(std::log2(view.attribute("theta")))}),
                        .operands = {builder.of(view.in[0]), builder.of(view.out[0]), builder.position()},
                        .grid = blocks_for(layout.heads * (layout.first + layout.rotated / 2), 256)});
}

OpKind rope(const char* name, const char* documentation) {
  using Is = Parameter::Is;
  return {.name = name,
          .documentation = documentation,
          .inputs = {{"x", Is::value}},
          .outputs = {{"y", Is::value}},
          .attributes = {{"heads", "into how many heads x divides", true, 0, true},
                         {"theta", "the base of the frequencies", true, 0, false},
                         {"rotated", "how many elements at the end of each head are rotated; all unless given", false,
                          0, true}},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace

OpKind rope_pairs_kind() {
  return rope("rope_pairs",
              "Rotary position embedding of neighbours: (a, b) = (x[2i], x[2i+1]) of a head's last `rotated` elements "
              "becomes (a cos - b sin, b cos + a sin), angle = position * theta^(-2i/rotated)");
}

OpKind rope_half_kind() {
  return rope(
      "rope_half",
      "Rotary position embedding of halves: (a, b) = (x[i], x[i + rotated/2]) of a head's last `rotated` elements "
      "becomes (a cos - b sin, b cos + a sin), angle = position * theta^(-2i/rotated)");
}

}  // namespace onelaunch::tasks
