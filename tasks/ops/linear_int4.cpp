// linear_int4, and the eager kernels that all int4 ops share

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
// Four columns of one row pair a thread; w = bf16((q - zero) * scale).
template <int in, int out, int group>
__device__ void dequantise_expert(const unsigned char* packed, const bf16* scale, const bf16* zero, bf16* w,
                                  long long expert, long long slot, int item) {
  const int pair = item / (out / 4), column = item % (out / 4) * 4;
  const unsigned bytes = *(const unsigned*)(packed + (expert * (in / 2) + pair) * out + column);
  const long long scales = (expert * (in / group) + 2 * pair / group) * out + column;
  __nv_bfloat162 row[2][2];
  for (int c = 0; c < 4; ++c) {
    const float s = load(scale, scales + c), z = load(zero, scales + c);
    const unsigned byte = bytes >> (8 * c);
    const bf16 low = __float2bfloat16_rn(((float)(byte & 15) - z) * s);
    const bf16 high = __float2bfloat16_rn(((float)(byte >> 4 & 15) - z) * s);
    (c % 2 ? row[0][c / 2].y : row[0][c / 2].x) = low;
    (c % 2 ? row[1][c / 2].y : row[1][c / 2].x) = high;
  }
  for (int r = 0; r < 2; ++r) {
    __nv_bfloat162* to = (__nv_bfloat162*)(w + (slot * in + 2 * pair + r) * out + column);
    to[0] = row[r][0];
    to[1] = row[r][1];
  }
}
template <int in, int out, int group, int slots>
__device__ void dequantise(const unsigned char* packed, const bf16* scale, const bf16* zero, bf16* w) {
  const int item = blockIdx.x * 256 + threadIdx.x, items = in / 2 * (out / 4);
  if (item < items * slots)
    dequantise_expert<in, out, group>(packed, scale, zero, w, item / items, item / items, item % items);
}
template <int in, int out, int group, int slots>
__device__ void dequantise_chosen(const unsigned char* packed, const bf16* scale, const bf16* zero, const int* ids, bf16* w) {
  const int item = blockIdx.x * 256 + threadIdx.x, items = in / 2 * (out / 4);
  if (item < items * slots)
    dequantise_expert<in, out, group>(packed, scale, zero, w, ids[item / items], item / items, item % items);
}

// y = x w, w (in, out): 64 columns a block, two a lane; the eight warps share the rows.
template <int in, int out, int slots, int shared_x, class X, class Y>
__device__ void multiply(const X* x, const bf16* w, Y* y) {
  __shared__ float part[8][64];
  constexpr int blocks = (out + 63) / 64;
  const int slot = blockIdx.x / blocks, column = blockIdx.x % blocks * 64 + threadIdx.x % 32 * 2, warp = threadIdx.x / 32;
  float even = 0, odd = 0;
  if (column < out) {
    for (int k = warp; k < in; k += 8) {
      const float value = load(x, (shared_x ? 0 : slot * in) + k);
      const float2 pair = __bfloat1622float2(*(const __nv_bfloat162*)(w + ((long long)slot * in + k) * out + column));
      even += value * pair.x;
      odd += value * pair.y;
    }
  }
  part[warp][threadIdx.x % 32 * 2] = even;
  part[warp][threadIdx.x % 32 * 2 + 1] = odd;
  __syncthreads();
  const int mine = blockIdx.x % blocks * 64 + threadIdx.x;
  if (threadIdx.x < 64 && mine < out) {
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += part[i][threadIdx.x];
    store(y, slot * out + mine, sum);
  }
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
      .grid = blocks_for(elements / 8, 256)};
  kernel.function = instance(experts.ids ? "dequantise_chosen" : "dequantise", {q.in, q.out, q.group, experts.slots});
  if (experts.ids) kernel.operands.push_back(*experts.ids);
  kernel.operands.push_back(matrix);
  builder.launch(view, kernel);
  return matrix;
}

void eager_multiply(const OpView& view, EagerBuilder& builder, const EagerProduct& product) {
  builder.source(kSource);
  builder.launch(view, {.function = instance("multiply", {product.in, product.out, product.slots, product.shared_x}),
                        .operands = {product.x, product.matrix, product.y},
                        .grid = product.slots * blocks_for(product.out, 64)});
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
