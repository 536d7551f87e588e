// The seed: every block normalises the token for itself, then its warps take rows of w in turn.
#include <onelaunch.cuh>

OL_TUNABLE(BLOCK, 128, 64, 128, 256, 512)   // threads a block
OL_TUNABLE(ROWS, 1, 1, 2, 4)                // rows of w that a warp takes at once
OL_TUNABLE(UNROLL, 1, 1, 2, 4)              // 16-byte loads in flight a row and lane
OL_TUNABLE(BLOCKS_PER_SM, 1, 1, 2, 4)

namespace {

using ol::bf16;
constexpr int kWarps = BLOCK / 32;
constexpr int kHidden = int(ol::dim::hidden), kOut = int(ol::dim::out);
constexpr int kVectors = kHidden / 8;       // of 16 bytes, in a row

union Eight {
  uint4 words;
  __nv_bfloat162 pair[4];
};

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}

// normed = bf16(token * norm / rms), in shared memory.
__device__ void normalise(const ol::Args& args, float* normed, float* sums) {
  float squares = 0;
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) {
    const float value = __bfloat162float(args.token[i]);
    squares += value * value;
  }
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = squares;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += sums[w];
  const float scale = rsqrtf(total / kHidden + 1e-6f);
  for (int i = threadIdx.x; i < kHidden; i += BLOCK)
    normed[i] = __bfloat162float(
        __float2bfloat16_rn(__bfloat162float(args.token[i]) * scale * __bfloat162float(args.norm[i])));
  __syncthreads();
}

// sum[r] += this lane's vector `v` of row r times normed.
__device__ void add_products(const Eight& weight, const float* normed, int v, float& sum) {
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    const float2 pair = __bfloat1622float2(weight.pair[p]);
    sum = fmaf(pair.y, normed[v * 8 + 2 * p + 1], fmaf(pair.x, normed[v * 8 + 2 * p], sum));
  }
}

}  // namespace

OL_LAUNCH(.block = BLOCK, .grid = ol::per_sm(BLOCKS_PER_SM))

extern "C" __global__ void __launch_bounds__(BLOCK) megakernel(const __grid_constant__ ol::Args args) {
  __shared__ float normed[kHidden];
  __shared__ float sums[kWarps];
  OL_PHASE("norm");
  normalise(args, normed, sums);
  OL_PHASE("linear");
  const int lane = threadIdx.x % 32, warp = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32;
  for (int first = warp * ROWS; first < kOut; first += int(gridDim.x) * kWarps * ROWS) {
    float sum[ROWS] = {};
    for (int begin = lane; begin < kVectors; begin += 32 * UNROLL) {
      Eight weight[UNROLL][ROWS] = {};
#pragma unroll
      for (int u = 0; u < UNROLL; ++u)
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
          if (begin + 32 * u < kVectors && first + r < kOut)
            weight[u][r].words = ol::load_stream(args.w + (long long)(first + r) * kHidden + (begin + 32 * u) * 8);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u)
        if (begin + 32 * u < kVectors)
#pragma unroll
          for (int r = 0; r < ROWS; ++r) add_products(weight[u][r], normed, begin + 32 * u, sum[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float total = warp_sum(sum[r]);
      if (lane == 0 && first + r < kOut) args.y[first + r] = __float2bfloat16_rn(total);
    }
  }
}
