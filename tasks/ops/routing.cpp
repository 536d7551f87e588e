// topk_routing

#include <algorithm>
#include <limits>
#include <numeric>

#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

Result<std::vector<Value>> infer(const OpView& view) {
  const std::int64_t k = view.count("k");
  return Checks()
      .vector(view.in[0])
      .require(k <= extent(view.in[0], 0), "k is more than there are logits")
      .require(k <= 256 && extent(view.in[0], 0) <= 1024, "k may be at most 256, of at most 1024 logits")
      .require(view.op->round_to == DType::f32, "weights are kept in f32")
      .gives({{DType::i32, {k}}, {DType::f32, {k}}});
}

void evaluate(OpRun& run) {
  const auto logits = run.in(0);
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  const std::size_t k = run.out(0).size();
  run.margin = k == order.size() ? std::numeric_limits<double>::infinity() : logits[order[k - 1]] - logits[order[k]];
  std::vector<double> probability(logits.begin(), logits.end());
  softmax(probability);
  double sum = run.view.attribute("eps");
  for (std::size_t slot = 0; slot < k; ++slot) sum += probability[order[slot]];
  for (std::size_t slot = 0; slot < k; ++slot) {
    run.out(0)[slot] = static_cast<double>(order[slot]);
    run.out(1)[slot] = probability[order[slot]] / sum * run.view.attribute("scale");
  }
}

double flops(const OpView& view, std::int64_t) {
  return static_cast<double>(4 * extent(view.in[0], 0) + 3 * view.count("k"));
}

constexpr const char* kSource = R"cuda(
// One warp. eps and scale come as the bits of doubles.
template <int experts, int k, long long eps_bits, long long scale_bits, class X>
__device__ void topk_routing(const X* logits, int* ids, float* weights) {
  __shared__ Sum left[experts], picked[k];
  const int lane = threadIdx.x;
  Sum top = -1e30f, all = 0, chosen = 0;
  for (int e = lane; e < experts; e += 32) {
    left[e] = load(logits, e);
    top = max(top, left[e]);
  }
  top = warp_max(top);
  for (int e = lane; e < experts; e += 32) all += exp(left[e] - top);
  all = warp_sum(all);
  __syncwarp();
  for (int slot = 0; slot < k; ++slot) {
    Sum best = -3e38f;
    int index = experts;
    for (int e = lane; e < experts; e += 32)
      if (left[e] > best) best = left[e], index = e;
    for (int step = 16; step > 0; step /= 2) {
      const Sum other = __shfl_xor_sync(0xffffffffu, best, step);
      const int other_index = __shfl_xor_sync(0xffffffffu, index, step);
      if (other > best || (other == best && other_index < index)) best = other, index = other_index;
    }
    const Sum weight = exp(best - top) / all;
    chosen += weight;
    if (lane == 0) {
      ids[slot] = index;
      picked[slot] = weight;
      left[index] = -3.2e38f;
    }
    __syncwarp();
  }
  if (lane == 0)
    for (int slot = 0; slot < k; ++slot)
      store(weights, slot, picked[slot] / (chosen + (Sum)__longlong_as_double(eps_bits)) * (Sum)__longlong_as_double(scale_bits));
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  builder.routing({view.in[0].name, view.in[0].dtype, extent(view.in[0], 0), view.count("k")});
  builder.source(kSource);
  builder.launch(view, {.function = instance("topk_routing",
                                             {extent(view.in[0], 0), view.count("k"), double_bits(view.attribute("eps")),
                                              double_bits(view.attribute("scale"))}),
                        .operands = {builder.of(view.in[0]), builder.of(view.out[0]), builder.of(view.out[1])},
                        .block = 32});
}

}  // namespace

OpKind topk_routing_kind() {
  using Is = Parameter::Is;
  return {.name = "topk_routing",
          .documentation =
              "ids: the k largest logits in descending order, ties to the lower index; with p = softmax(logits) over "
              "all of them, weights = p[id] / (sum over the chosen of p + eps) * scale",
          .inputs = {{"logits", Is::value}},
          .outputs = {{"ids", Is::value}, {"weights", Is::value}},
          .attributes = {{"k", "how many are chosen", true, 0, true},
                         {"eps", "added to the sum of the chosen probabilities", false, 0, false},
                         {"scale", "factor of all weights", false, 1, false}},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager,
          .chooses = true};
}

}  // namespace onelaunch::tasks
