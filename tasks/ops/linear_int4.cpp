// linear_int4, and the eager kernels that all int4 ops share

#include <algorithm>

#include "tasks/ops/checks.h"
#include "tasks/ops/dense.h"
#include "tasks/ops/int4_eager.h"
#include "tasks/ops/kinds.h"

namespace onelaunch::tasks {
namespace {

Result<std::vector<Value>> infer(const OpView& view) {
  const Quantised& weight = *view.in[1].quantised;
  return Checks()
      .vector(view.in[0], weight.in)
      .require(weight.experts == 1, weight.name + " must not have experts")
      .gives({{view.op->round_to, {weight.out}}});
}

void evaluate(OpRun& run) {
  const Int4Product product{run.int4(1), run.in(0).data(), run.out(0).data()};
  multiply(*run.place.pool, {&product, 1});
}

double flops(const OpView& view, std::int64_t) {
  const Quantised& weight = *view.in[1].quantised;
  return 2.0 * static_cast<double>(weight.in * weight.out);
}

constexpr const char* kSource = R"cuda(
// Eight columns (or one) of four row pairs a thread, which lie in one group; w = bf16((q - zero) * scale).
template <int in, int out, int group>
__device__ void dequantise_expert(const unsigned char* packed, const bf16* scale, const bf16* zero, bf16* w,
                                  long long expert, long long slot, int item) {
  constexpr int wide = out % 8 == 0 ? 8 : 1, across = out / wide;
  const int pair = item / across * 4, column = item % across * wide;
  const long long scales = (expert * (in / group) + 2 * pair / group) * out + column;
  const unsigned char* from = packed + (expert * (in / 2) + pair) * out + column;
  bf16* to = w + (slot * in + 2 * pair) * out + column;
  if constexpr (wide == 8) {
    float s[8], z[8];
    load8(scale, scales, s);
    load8(zero, scales, z);
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      const uint2 bytes = *(const uint2*)(from + (long long)p * out);
      __nv_bfloat162 rows[2][4];
#pragma unroll
      for (int row = 0; row < 2; ++row)
#pragma unroll
        for (int c = 0; c < 8; c += 2) {
          const unsigned two = (c < 4 ? bytes.x : bytes.y) >> (c % 4 * 8 + row * 4);
          rows[row][c / 2] = __floats2bfloat162_rn(((float)(two & 15) - z[c]) * s[c], ((float)(two >> 8 & 15) - z[c + 1]) * s[c + 1]);
        }
      *(uint4*)(to + 2ll * p * out) = *(const uint4*)rows[0];
      *(uint4*)(to + (2ll * p + 1) * out) = *(const uint4*)rows[1];
    }
  } else {
    const Sum s = load(scale, scales), z = load(zero, scales);
    for (int p = 0; p < 4; ++p) {
      const unsigned byte = from[(long long)p * out];
      store(to, 2ll * p * out, ((Sum)(byte & 15) - z) * s);
      store(to, (2ll * p + 1) * out, ((Sum)(byte >> 4) - z) * s);
    }
  }
}
template <int in, int out, int group, int slots>
__device__ void dequantise(const unsigned char* packed, const bf16* scale, const bf16* zero, bf16* w) {
  const int item = blockIdx.x * 256 + threadIdx.x, items = in / 8 * (out % 8 == 0 ? out / 8 : out);
  if (item < items * slots)
    dequantise_expert<in, out, group>(packed, scale, zero, w, item / items, item / items, item % items);
}
template <int in, int out, int group, int slots>
__device__ void dequantise_chosen(const unsigned char* packed, const bf16* scale, const bf16* zero, const int* ids, bf16* w) {
  const int item = blockIdx.x * 256 + threadIdx.x, items = in / 8 * (out % 8 == 0 ? out / 8 : out);
  if (item < items * slots)
    dequantise_expert<in, out, group>(packed, scale, zero, w, ids[item / items], item / items, item % items);
}

// y = x w, w (in, out): a block for 32 columns, eight a lane; its lanes share the rows, eight a warp at a time.
template <int in, int out, int slots, int shared_x, int warps, class X, class Y>
__device__ void multiply(const X* x, const bf16* w, Y* y) {
  __shared__ Sum part[warps][32];
  constexpr int blocks = (out + 31) / 32;
  const int slot = blockIdx.x / blocks, first = blockIdx.x % blocks * 32, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column = first + lane % 4 * 8;
  const X* factor = x + (shared_x ? 0 : slot * in);
  const bf16* matrix = w + (long long)slot * in * out;
  Sum sums[8] = {};
  if (column < out) {
#pragma unroll 4
    for (int k = warp * 8 + lane / 4; k < in; k += warps * 8) {
      const Sum value = load(factor, k);
      Sum row[8];
      if constexpr (out % 8 == 0) {
        load8(matrix, (long long)k * out + column, row);
      } else {
        for (int c = 0; c < 8; ++c) row[c] = column + c < out ? load(matrix, (long long)k * out + column + c) : 0;
      }
#pragma unroll
      for (int c = 0; c < 8; ++c) sums[c] += value * row[c];
    }
  }
  part[warp][lane % 4 * 8 + lane / 4] = summed(sums);
  __syncthreads();
  if (warp > 0 || first + lane >= out) return;
  Sum sum = 0;
#pragma unroll
  for (int i = 0; i < warps; ++i) sum += part[i][lane];
  store(y, slot * out + first + lane, sum);
}
)cuda";

void eager(const OpView& view, EagerBuilder& builder) {
  const Quantised& weight = *view.in[1].quantised;
  const EagerOperand matrix = eager_dequantise(view, builder, view.in[1], {});
  eager_multiply(view, builder,
                 {.x = builder.of(view.in[0]),
                  .matrix = matrix,
                  .y = builder.of(view.out[0]),
                  .in = weight.in,
                  .out = weight.out,
                  .slots = 1,
                  .shared_x = true});
}

}  // namespace

EagerOperand eager_dequantise(const OpView& view, EagerBuilder& builder, const Operand& weight,
                              const EagerExperts& experts) {
  const Quantised& q = *weight.quantised;
  const std::int64_t elements = experts.slots * q.in * q.out;
  builder.source(kSource);
  EagerOperand matrix = builder.buffer("dequantised." + std::to_string(elements), elements, DType::bf16);
  EagerKernel kernel{
      .function = {},
      .operands = {builder.part(weight, "packed"), builder.part(weight, "scale"), builder.part(weight, "zero")},
      .grid = blocks_for(elements / (q.out % 8 == 0 ? 64 : 8), 256)};
  kernel.function = instance(experts.ids ? "dequantise_chosen" : "dequantise", {q.in, q.out, q.group, experts.slots});
  if (experts.ids) kernel.operands.push_back(*experts.ids);
  kernel.operands.push_back(matrix);
  builder.launch(view, kernel);
  return matrix;
}

void eager_multiply(const OpView& view, EagerBuilder& builder, const EagerProduct& product) {
  builder.source(kSource);
  const std::int64_t warps = std::clamp<std::int64_t>(product.in / 32, 4, 16);
  builder.launch(view,
                 {.function = instance("multiply", {product.in, product.out, product.slots, product.shared_x, warps}),
                  .operands = {product.x, product.matrix, product.y},
                  .grid = product.slots * blocks_for(product.out, 32),
                  .block = 32 * warps});
}

OpKind linear_int4_kind() {
  using Is = Parameter::Is;
  return {.name = "linear_int4",
          .documentation =
              "y[o] = sum over i of w[i][o] * x[i] with w = bf16((q - zero) * scale); weight is int4 (in, out)",
          .inputs = {{"x", Is::value}, {"weight", Is::int4_weight}},
          .outputs = {{"y", Is::value}},
          .attributes = {},
          .infer = infer,
          .evaluate = evaluate,
          .flops = flops,
          .experts_used = nullptr,
          .eager = eager};
}

}  // namespace onelaunch::tasks
