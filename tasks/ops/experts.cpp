// experts_int4, swiglu_int4

#include <numeric>

#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/int4_eager.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

using Is = Parameter::Is;

// The three weights are the last inputs: gate, up, down.
struct Weights {
  const Operand &gate, &up, &down;
  std::int64_t experts, in, inner, out;
};

Weights weights_of(const OpView& view) {
  const std::size_t first = view.in.size() - 3;
  const Quantised& gate = *view.in[first].quantised;
  return {view.in[first],
          view.in[first + 1],
          view.in[first + 2],
          gate.experts,
          gate.in,
          gate.out,
          view.in[first + 2].quantised->out};
}

Checks check_weights(const OpView& view) {
  const Weights w = weights_of(view);
  const Quantised &gate = *w.gate.quantised, &up = *w.up.quantised, &down = *w.down.quantised;
  return Checks()
      .vector(view.in[0], w.in)
      .require(up.in == gate.in && up.out == gate.out, up.name + " must have the shape of " + gate.name)
      .require(down.in == gate.out, down.name + " must take what " + gate.name + " gives")
      .require(up.experts == gate.experts && down.experts == gate.experts,
               "the weights must have as many experts each");
}

// y = sum over slots of factor[slot] * down(silu(gate(x)) * up(x)), each with the slot's expert.
void swiglu(OpRun& run, std::span<const double> ids, std::span<const double> factors) {
  const Weights w = weights_of(run.view);
  const std::size_t first = run.view.in.size() - 3, slots = ids.size();
  const auto inner = static_cast<std::size_t>(w.inner), out = static_cast<std::size_t>(w.out);
  std::vector<double> gated(slots * inner), raised(slots * inner), lowered(slots * out);
  std::vector<Int4Product> products;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto expert = static_cast<std::int64_t>(ids[slot]);
    products.push_back({run.int4(first, expert), run.in(0).data(), &gated[slot * inner]});
    products.push_back({run.int4(first + 1, expert), run.in(0).data(), &raised[slot * inner]});
  }
  multiply(*run.place.pool, products);
  for (std::size_t i = 0; i < gated.size(); ++i) gated[i] = silu(gated[i]) * raised[i];
  products.clear();
  for (std::size_t slot = 0; slot < slots; ++slot)
    products.push_back(
        {run.int4(first + 2, static_cast<std::int64_t>(ids[slot])), &gated[slot * inner], &lowered[slot * out]});
  multiply(*run.place.pool, products);
  std::fill(run.out(0).begin(), run.out(0).end(), 0.0);
  for (std::size_t slot = 0; slot < slots; ++slot)
    add_scaled(factors[slot], &lowered[slot * out], w.out, run.out(0).data());
}

double swiglu_flops(const OpView& view, std::int64_t slots) {
  const Weights w = weights_of(view);
  return static_cast<double>(slots * (2 * w.inner * (2 * w.in + w.out) + 5 * w.inner));
}

constexpr const char* kSource = R"cuda(
template <int n>
__device__ void swiglu_inner(const float* gate, const float* up, float* inner) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) store(inner, i, silu(load(gate, i)) * load(up, i));
}
template <int n, int slots, class Y>
__device__ void weighted_sum(const float* rows, const float* weights, Y* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  Sum sum = 0;
  for (int slot = 0; slot < slots; ++slot) sum += load(weights, slot) * load(rows, slot * n + i);
  store(y, i, sum);
}
)cuda";

// gate, up and down of the slots' experts one after the other; y has a row a slot.
void eager_swiglu(const OpView& view, EagerBuilder& builder, const EagerExperts& experts, const EagerOperand& y) {
  const Weights w = weights_of(view);
  const std::int64_t n = experts.slots * w.inner;
  const auto inner_buffer = [&](const char* name) {
    return builder.buffer("swiglu." + std::string(name) + "." + std::to_string(n), n, DType::f32);
  };
  const EagerOperand gated = inner_buffer("gate"), raised = inner_buffer("up"), inner = inner_buffer("inner");
  for (const auto& [weight, to] : {std::pair{&w.gate, &gated}, std::pair{&w.up, &raised}}) {
    const EagerOperand matrix = eager_dequantise(view, builder, *weight, experts);
    eager_multiply(view, builder,
                   {.x = builder.of(view.in[0]),
                    .matrix = matrix,
                    .y = *to,
                    .in = w.in,
                    .out = w.inner,
                    .slots = experts.slots,
                    .shared_x = true});
  }
  builder.source(kSource);
  builder.launch(
      view,
      {.function = instance("swiglu_inner", {n}), .operands = {gated, raised, inner}, .grid = blocks_for(n, 256)});
  const EagerOperand matrix = eager_dequantise(view, builder, w.down, experts);
  eager_multiply(
      view, builder,
      {.x = inner, .matrix = matrix, .y = y, .in = w.inner, .out = w.out, .slots = experts.slots, .shared_x = false});
}

// ---- experts_int4 ----

Result<std::vector<Value>> infer_experts(const OpView& view) {
  const Weights w = weights_of(view);
  return check_weights(view)
      .type(view.in[1], DType::i32)
      .require(view.in[1].shape.size() == 1 && extent(view.in[1], 0) <= w.experts,
               "ids must be a vector of expert numbers")
      .vector(view.in[2], extent(view.in[1], 0))
      .type(view.in[2], DType::f32)
      .gives({{view.op->round_to, {w.out}}});
}

void evaluate_experts(OpRun& run) { swiglu(run, run.in(1), run.in(2)); }
std::int64_t experts_used(const OpView& view) { return extent(view.in[1], 0); }
double flops_experts(const OpView& view, std::int64_t) {
  return swiglu_flops(view, experts_used(view)) + static_cast<double>(2 * experts_used(view) * weights_of(view).out);
}

void eager_experts(const OpView& view, EagerBuilder& builder) {
  const Weights w = weights_of(view);
  const std::int64_t slots = experts_used(view);
  const EagerOperand ids = builder.of(view.in[1]);
  const EagerOperand rows = builder.buffer("experts." + std::to_string(slots * w.out), slots * w.out, DType::f32);
  eager_swiglu(view, builder, {.slots = slots, .ids = &ids}, rows);
  builder.launch(view, {.function = instance("weighted_sum", {w.out, slots}),
                        .operands = {rows, builder.of(view.in[2]), builder.of(view.out[0])},
                        .grid = blocks_for(w.out, 256)});
}

// ---- swiglu_int4 ----

Result<std::vector<Value>> infer_swiglu(const OpView& view) {
  const Weights w = weights_of(view);
  return check_weights(view)
      .require(w.experts == 1, w.gate.name + " must not have experts")
      .gives({{view.op->round_to, {w.out}}});
}

void evaluate_swiglu(OpRun& run) {
  const double first = 0, whole = 1;
  swiglu(run, {&first, 1}, {&whole, 1});
}
double flops_swiglu(const OpView& view, std::int64_t) { return swiglu_flops(view, 1); }
void eager_dense_swiglu(const OpView& view, EagerBuilder& builder) {
  eager_swiglu(view, builder, {}, builder.of(view.out[0]));
}

}  // namespace

OpKind experts_int4_kind() {
  return {.name = "experts_int4",
          .documentation =
              "Mixture of SwiGLU experts: y = sum over slots s of weights[s] * down[e](silu(gate[e](x)) * up[e](x)), "
              "e = ids[s]; the inner vector and the sum are not rounded. The weights are int4 with an expert dimension",
          .inputs = {{"x", Is::value},
                     {"ids", Is::value},
                     {"weights", Is::value},
                     {"gate", Is::int4_weight},
                     {"up", Is::int4_weight},
                     {"down", Is::int4_weight}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer_experts,
          .evaluate = evaluate_experts,
          .flops = flops_experts,
          .experts_used = experts_used,
          .eager = eager_experts};
}

OpKind swiglu_int4_kind() {
  return {.name = "swiglu_int4",
          .documentation = "y = down(silu(gate(x)) * up(x)) with int4 weights; the inner vector is not rounded",
          .inputs = {{"x", Is::value}, {"gate", Is::int4_weight}, {"up", Is::int4_weight}, {"down", Is::int4_weight}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer_swiglu,
          .evaluate = evaluate_swiglu,
          .flops = flops_swiglu,
          .experts_used = nullptr,
          .eager = eager_dense_swiglu};
}

}  // namespace onelaunch::tasks
