// gated_delta_update

#include <cmath>

#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

enum In : std::size_t { kQuery, kKey, kValue, kGate, kBeta };
enum Out : std::size_t { kResult, kState };

Result<std::vector<Value>> infer(const OpView& view) {
  const Operand& state = view.out[kState];
  const std::int64_t heads = extent(state, 0), keys = extent(state, 1), values = extent(state, 2);
  return Checks()
      .type(state, DType::f32)
      .require(state.shape.size() == 3, state.name + " must have shape [heads, keys, values]")
      .vector(view.in[kQuery], heads * keys)
      .vector(view.in[kKey], heads * keys)
      .vector(view.in[kValue], heads * values)
      .vector(view.in[kGate], heads * keys)
      .vector(view.in[kBeta], heads)
      .gives({{view.op->round_to, {heads * values}}, {DType::f32, state.shape}});
}

// One head: state is [keys][values].
struct Head {
  const double *query, *key, *value, *gate;
  double beta;
  std::size_t keys, values;
  float* state;
  double* result;
};

void update(const Head& head) {
  const std::size_t count = head.keys * head.values;
  std::vector<double> state(count), predicted(head.values);
  for (std::size_t k = 0; k < head.keys; ++k) {
    const double decay = sigmoid(-head.gate[k]);  // exp(-softplus(g))
    for (std::size_t v = 0; v < head.values; ++v) {
      const double decayed = head.state[k * head.values + v] * decay;
      state[k * head.values + v] = decayed;
      predicted[v] += decayed * head.key[k];
    }
  }
  const double scale = 1 / std::sqrt(static_cast<double>(head.keys));
  for (std::size_t v = 0; v < head.values; ++v) head.result[v] = 0;
  for (std::size_t k = 0; k < head.keys; ++k) {
    for (std::size_t v = 0; v < head.values; ++v) {
      double& entry = state[k * head.values + v];
      entry += head.beta * head.key[k] * (head.value[v] - predicted[v]);
      head.result[v] += entry * (head.query[k] * scale);
    }
  }
  for (std::size_t i = 0; i < count; ++i) head.state[i] = static_cast<float>(state[i]);
}

void evaluate(OpRun& run) {
  const auto& shape = run.view.out[kState].shape;
  const auto keys = static_cast<std::size_t>(shape[1]), values = static_cast<std::size_t>(shape[2]);
  const auto state = run.f32_state(kState);
  run.place.pool->for_each(static_cast<std::size_t>(shape[0]), [&](std::size_t h) {
    update({.query = &run.in(kQuery)[h * keys],
            .key = &run.in(kKey)[h * keys],
            .value = &run.in(kValue)[h * values],
            .gate = &run.in(kGate)[h * keys],
            .beta = sigmoid(run.in(kBeta)[h]),
            .keys = keys,
            .values = values,
            .state = &state[h * keys * values],
            .result = &run.out(kResult)[h * values]});
  });
}

double flops(const OpView& view, std::int64_t) { return 7.0 * static_cast<double>(view.out[kState].elements()); }

constexpr const char* kSource = R"cuda(
// A block for 32 value columns of one head, a lane a column; the warps share the keys and keep their part of S.
template <int heads, int keys, int values, class Q, class K, class V, class G, class B, class Y>
__device__ void gated_delta_update(const Q* query, const K* key, const V* value, const G* gate, const B* beta,
                                   float* state, Y* result) {
  __shared__ Sum part[2][8][32];
  constexpr int tiles = (values + 31) / 32, shared = (keys + 7) / 8;
  const int head = blockIdx.x / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = blockIdx.x % tiles * 32 + lane, first = warp * shared;
  float* mine = state + (long long)head * keys * values + column;
  const Sum scale = Sum(1) / sqrt((Sum)keys), strength = sigmoid(load(beta, head));
  Sum rows[shared], predicted = 0, sum = 0;
#pragma unroll
  for (int i = 0; i < shared; ++i) rows[i] = first + i < keys && column < values ? mine[(first + i) * values] : 0;
#pragma unroll
  for (int i = 0; i < shared; ++i) {
    if (first + i >= keys) break;
    rows[i] *= sigmoid(-load(gate, head * keys + first + i));
    predicted += rows[i] * load(key, head * keys + first + i);
  }
  part[0][warp][lane] = predicted;
  __syncthreads();
  predicted = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) predicted += part[0][w][lane];
  const Sum delta = column < values ? strength * (load(value, head * values + column) - predicted) : 0;
#pragma unroll
  for (int i = 0; i < shared; ++i) {
    if (first + i >= keys) break;
    rows[i] += load(key, head * keys + first + i) * delta;
    sum += rows[i] * load(query, head * keys + first + i) * scale;
    if (column < values) mine[(first + i) * values] = rows[i];
  }
  part[1][warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || column >= values) return;
  sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += part[1][w][lane];
  store(result, head * values + column, sum);
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const auto& shape = view.out[kState].shape;
  EagerKernel kernel{.function = instance("gated_delta_update", {shape[0], shape[1], shape[2]}),
                     .operands = {},
                     .grid = shape[0] * blocks_for(shape[2], 32)};
  for (const Operand& operand : view.in) kernel.operands.push_back(builder.of(operand));
  kernel.operands.push_back(builder.of(view.out[kState]));
  kernel.operands.push_back(builder.of(view.out[kResult]));
  builder.source(kSource);
  builder.launch(view, kernel);
}

}  // namespace

OpKind gated_delta_update_kind() {
  using Is = Parameter::Is;
  return {.name = "gated_delta_update",
          .documentation =
              "One step of the gated delta rule, per head, with S [keys][values]: S[k][v] *= exp(-softplus(gate[k])); "
              "p[v] = sum over k of S[k][v] * key[k]; S[k][v] += sigmoid(beta) * key[k] * (value[v] - p[v]); "
              "y[v] = sum over k of S[k][v] * query[k] / sqrt(keys)",
          .inputs = {{"query", Is::value},
                     {"key", Is::value},
                     {"value", Is::value},
                     {"gate", Is::value},
                     {"beta", Is::value}},
          .outputs = {{"y", Is::value}, {"S", Is::state}},
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
