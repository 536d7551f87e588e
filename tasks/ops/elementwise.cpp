// add, silu_mul, slice, append

#include <algorithm>

#include "base/bfloat16.h"
#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/eager_builder.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

using Is = Parameter::Is;

constexpr const char* kSource = R"cuda(
template <int n, class A, class B, class Y>
__device__ void add(const A* a, const B* b, Y* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) store(y, i, load(a, i) + load(b, i));
}
template <int n, class A, class B, class Y>
__device__ void silu_mul(const A* gate, const B* up, Y* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) store(y, i, silu(load(gate, i)) * load(up, i));
}
template <int begin, int size, class X, class Y>
__device__ void slice(const X* x, Y* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) store(y, i, load(x, begin + i));
}
template <int n, class X>
__device__ void append(const X* row, bf16* cache, long long position) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) store(cache, position * n + i, load(row, i));
}
)cuda";

Result<std::vector<Value>> infer_pair(const OpView& view) {
  return Checks()
      .vector(view.in[0])
      .vector(view.in[1], extent(view.in[0], 0))
      .gives({{view.op->round_to, view.in[0].shape}});
}

void eager_pair(const OpView& view, EagerBuilder& builder) {
  const std::int64_t n = extent(view.in[0], 0);
  builder.source(kSource);
  builder.launch(view, {.function = instance(view.op->kind, {n}),
                        .operands = {builder.of(view.in[0]), builder.of(view.in[1]), builder.of(view.out[0])},
                        .grid = blocks_for(n, 256)});
}

void evaluate_add(OpRun& run) {
  for (std::size_t i = 0; i < run.out(0).size(); ++i) run.out(0)[i] = run.in(0)[i] + run.in(1)[i];
}
double flops_add(const OpView& view, std::int64_t) { return static_cast<double>(extent(view.in[0], 0)); }

void evaluate_silu_mul(OpRun& run) {
  for (std::size_t i = 0; i < run.out(0).size(); ++i) run.out(0)[i] = silu(run.in(0)[i]) * run.in(1)[i];
}
double flops_silu_mul(const OpView& view, std::int64_t) { return 5.0 * static_cast<double>(extent(view.in[0], 0)); }

Result<std::vector<Value>> infer_slice(const OpView& view) {
  const double begin = view.attribute("begin");
  return Checks()
      .vector(view.in[0])
      .require(begin >= 0 && begin == static_cast<double>(view.count("begin")), "begin must be an integer from 0 on")
      .require(view.count("begin") + view.count("size") <= extent(view.in[0], 0), "begin + size is beyond the end of x")
      .gives({{view.op->round_to, {view.count("size")}}});
}

void evaluate_slice(OpRun& run) {
  const auto from = run.in(0).subspan(static_cast<std::size_t>(run.view.count("begin")), run.out(0).size());
  std::copy(from.begin(), from.end(), run.out(0).begin());
}

void eager_slice(const OpView& view, EagerBuilder& builder) {
  builder.source(kSource);
  builder.launch(view, {.function = instance("slice", {view.count("begin"), view.count("size")}),
                        .operands = {builder.of(view.in[0]), builder.of(view.out[0])},
                        .grid = blocks_for(view.count("size"), 256)});
}

Result<std::vector<Value>> infer_append(const OpView& view) {
  const Operand& cache = view.out[0];
  return Checks()
      .vector(view.in[0])
      .type(cache, DType::bf16)
      .require(cache.shape == std::vector{kCapacity, extent(view.in[0], 0)},
               cache.name + " must have shape [capacity, " + std::to_string(extent(view.in[0], 0)) + "]")
      .gives({{DType::bf16, cache.shape}});
}

void evaluate_append(OpRun& run) {
  const auto row = run.in(0);
  const auto cache = run.bf16_state(0).subspan(static_cast<std::size_t>(run.place.position) * row.size(), row.size());
  std::transform(row.begin(), row.end(), cache.begin(), double_to_bf16);
}

void eager_append(const OpView& view, EagerBuilder& builder) {
  const std::int64_t n = extent(view.in[0], 0);
  builder.source(kSource);
  builder.launch(view, {.function = instance("append", {n}),
                        .operands = {builder.of(view.in[0]), builder.of(view.out[0]), builder.position()},
                        .grid = blocks_for(n, 256)});
}

double no_flops(const OpView&, std::int64_t) { return 0; }

}  // namespace

OpKind add_kind() {
  return {.name = "add",
          .documentation = "y[i] = a[i] + b[i]",
          .inputs = {{"a", Is::value}, {"b", Is::value}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer_pair,
          .evaluate = evaluate_add,
          .flops = flops_add,
          .experts_used = nullptr,
          .eager = eager_pair};
}

OpKind silu_mul_kind() {
  return {.name = "silu_mul",
          .documentation = "y[i] = gate[i] * sigmoid(gate[i]) * up[i]",
          .inputs = {{"gate", Is::value}, {"up", Is::value}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer_pair,
          .evaluate = evaluate_silu_mul,
          .flops = flops_silu_mul,
          .experts_used = nullptr,
          .eager = eager_pair};
}

OpKind slice_kind() {
  return {.name = "slice",
          .documentation = "y[i] = x[begin + i] for i from 0 to size - 1",
          .inputs = {{"x", Is::value}},
          .outputs = {{"y", Is::value}},
          .attributes = {{"begin", "the first element", true, 0, false}, {"size", "how many elements", true, 0, true}},
          .infer = infer_slice,
          .evaluate = evaluate_slice,
          .flops = no_flops,
          .experts_used = nullptr,
          .eager = eager_slice};
}

OpKind append_kind() {
  return {.name = "append",
          .documentation = "cache[position] = bf16(row); position counts the tokens cached before this one",
          .inputs = {{"row", Is::value}},
          .outputs = {{"cache", Is::cache}},
          .attributes = {},
          .infer = infer_append,
          .evaluate = evaluate_append,
          .flops = no_flops,
          .experts_used = nullptr,
          .eager = eager_append};
}

}  // namespace onelaunch::tasks
