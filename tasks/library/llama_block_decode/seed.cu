// The seed: one cooperative launch over both layers, six grid-wide barriers a layer.
// Each block keeps the residual stream in shared memory and adds the projections to it itself, so all blocks agree.
#include <onelaunch.cuh>

OL_TUNABLE(BLOCK, 128, 64, 128, 256, 512)   // threads a block
OL_TUNABLE(ROWS, 1, 1, 2, 4)                // rows of a weight that a warp takes at once
OL_TUNABLE(BLOCKS, 64, 16, 32, 64, 128)     // blocks of the grid: few make cheap barriers, many read faster
OL_TUNABLE(KEYS, 32, 32, 64, 128)           // cache rows that one attention task covers

namespace {

namespace dim = ol::dim;
using ol::bf16;
constexpr int kWarps = BLOCK / 32;
constexpr int kHidden = int(dim::hidden), kInter = int(dim::inter), kLayers = int(dim::layers);
constexpr int kHeads = int(dim::heads), kKvHeads = int(dim::kv_heads), kDim = int(dim::head_dim);
constexpr int kQ = kHeads * kDim, kKv = kKvHeads * kDim, kHeadsAKey = kHeads / kKvHeads;
constexpr int kTasksMax = 64;               // attention tasks a head

constexpr int max_of(int a, int b) { return a > b ? a : b; }

// ---- scratch, f32 ----
constexpr int kQuery = 0;                                    // raw q, then k, then v
constexpr int kTop = kQuery + kQ + 2 * kKv;                  // [task][head]: running maximum, sum
constexpr int kSum = kTop + kTasksMax * kHeads;
constexpr int kWeighted = kSum + kTasksMax * kHeads;         // [task][head][dim]
constexpr int kInner = kWeighted + kTasksMax * kQ;
constexpr int kProjected = kInner + kInter;                  // o or down
constexpr int kScratchFloats = kProjected + kHidden;

struct Shared {
  float residual[kHidden];
  float x[max_of(max_of(kHidden, kInter), kQ)];              // what a projection multiplies
  float sums[kWarps];
};

__device__ float round_bf16(float value) { return __bfloat162float(__float2bfloat16_rn(value)); }
__device__ int lane_id() { return int(threadIdx.x) % 32; }
__device__ int warp_id() { return int(threadIdx.x) / 32; }
__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}
__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

__device__ void normalise(Shared& s, const bf16* weight) {
  float squares = 0;
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) squares += s.residual[i] * s.residual[i];
  squares = warp_sum(squares);
  if (lane_id() == 0) s.sums[warp_id()] = squares;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += s.sums[w];
  const float scale = rsqrtf(total / kHidden + 1e-5f);
  for (int i = threadIdx.x; i < kHidden; i += BLOCK)
    s.x[i] = round_bf16(s.residual[i] * scale * __bfloat162float(weight[i]));
  __syncthreads();
}

__device__ void load_x(Shared& s, const float* source, int count) {
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += BLOCK) s.x[i] = source[i];
  __syncthreads();
}

__device__ void add_to_residual(Shared& s, const float* projected) {
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) s.residual[i] = round_bf16(s.residual[i] + projected[i]);
  __syncthreads();
}

// dot[r] of ROWS rows of a (rows, kIn) weight with x, in every lane.
template <int kIn>
__device__ void dot_rows(const Shared& s, const bf16* weight, int row, int rows, float (&dot)[ROWS]) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) dot[r] = 0;
  for (int v = lane_id(); v < kIn / 8; v += 32) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (row + r >= rows) continue;
      const uint4 words = ol::load_stream(weight + (long long)(row + r) * kIn + v * 8);
      const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&words);
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const float2 pair = __bfloat1622float2(pairs[p]);
        dot[r] = fmaf(pair.y, s.x[v * 8 + 2 * p + 1], fmaf(pair.x, s.x[v * 8 + 2 * p], dot[r]));
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) dot[r] = warp_sum(dot[r]);
}

// out = bf16(weight times x), the grid's warps taking ROWS rows in turn.
template <int kIn>
__device__ void project(const Shared& s, const bf16* weight, int rows, float* out) {
  for (int row = (int(blockIdx.x) * kWarps + warp_id()) * ROWS; row < rows; row += int(gridDim.x) * kWarps * ROWS) {
    float dot[ROWS];
    dot_rows<kIn>(s, weight, row, rows, dot);
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      if (lane_id() == 0 && row + r < rows) out[row + r] = round_bf16(dot[r]);
  }
}

// ---- attention ----

// Value j of a head rotated by the position: halves (a, b) become (a cos - b sin, b cos + a sin).
__device__ float rotated(const float* head, int j, long long position) {
  constexpr int kHalf = kDim / 2;
  const int i = j % kHalf;
  const double turns = double(position) * double(exp2f(float(i) * (-13.287712379549449f / kHalf))) * 0.15915494309189535;
  float sine, cosine;
  __sincosf(float((turns - rint(turns)) * 6.283185307179586), &sine, &cosine);
  const float a = head[i], b = head[i + kHalf];
  return round_bf16(j < kHalf ? a * cosine - b * sine : b * cosine + a * sine);
}

template <class Layer>
__device__ void append(const Layer& layer, const float* projected, long long position) {
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < kKv; i += gridDim.x * BLOCK) {
    const float* key = projected + kQ + i / kDim * kDim;
    layer.k_cache[position * kKv + i] = __float2bfloat16_rn(rotated(key, i % kDim, position));
    layer.v_cache[position * kKv + i] = __float2bfloat16_rn(projected[kQ + kKv + i]);
  }
}

__device__ int tasks_a_head(long long rows) { return int(min((long long)kTasksMax, (rows + KEYS - 1) / KEYS)); }

// One warp: one head over one stretch of the cache. Lanes take rows for the scores and columns for the sum.
template <class Layer>
__device__ void attend(const Layer& layer, long long rows, int head, int task, float* scratch) {
  static_assert(kDim == 64, "two columns a lane");
  const float* query = scratch + kQuery + head * kDim;
  const bf16 *keys = layer.k_cache + head / kHeadsAKey * kDim, *values = layer.v_cache + head / kHeadsAKey * kDim;
  const long long tasks = tasks_a_head(rows), per_task = (rows + tasks - 1) / tasks;
  const long long begin = task * per_task, end = min(rows, begin + per_task);
  const float q0 = rotated(query, 2 * lane_id(), rows - 1), q1 = rotated(query, 2 * lane_id() + 1, rows - 1);
  float top = -1e30f, total = 0, sum0 = 0, sum1 = 0;
  for (long long first = begin; first < end; first += 32) {
    const int count = int(min(32ll, end - first));
    float score = -INFINITY;
    for (int row = 0; row < count; ++row) {
      const float2 key = __bfloat1622float2(
          *reinterpret_cast<const __nv_bfloat162*>(keys + (first + row) * kKv + 2 * lane_id()));
      const float dot = warp_sum(fmaf(key.y, q1, key.x * q0)) * rsqrtf(float(kDim));
      if (lane_id() == row) score = dot;
    }
    const float new_top = fmaxf(top, warp_max(score)), shrink = __expf(top - new_top);
    const float weight = __expf(score - new_top);
    top = new_top;
    total = total * shrink + warp_sum(weight);
    sum0 *= shrink;
    sum1 *= shrink;
    for (int row = 0; row < count; ++row) {
      const float w = __shfl_sync(~0u, weight, row);
      const float2 value = __bfloat1622float2(
          *reinterpret_cast<const __nv_bfloat162*>(values + (first + row) * kKv + 2 * lane_id()));
      sum0 = fmaf(w, value.x, sum0);
      sum1 = fmaf(w, value.y, sum1);
    }
  }
  const int slot = task * kHeads + head;
  if (lane_id() == 0) {
    scratch[kTop + slot] = top;
    scratch[kSum + slot] = total;
  }
  scratch[kWeighted + slot * kDim + 2 * lane_id()] = sum0;
  scratch[kWeighted + slot * kDim + 2 * lane_id() + 1] = sum1;
}

// x = bf16(attention's result), the tasks of each head combined; every block does it for itself.
__device__ void combine(Shared& s, long long rows, const float* scratch) {
  const int tasks = tasks_a_head(rows);
  __syncthreads();
  for (int i = threadIdx.x; i < kQ; i += BLOCK) {
    const int head = i / kDim;
    float top = -1e30f, total = 0, sum = 0;
    for (int t = 0; t < tasks; ++t) top = fmaxf(top, scratch[kTop + t * kHeads + head]);
    for (int t = 0; t < tasks; ++t) {
      const float share = __expf(scratch[kTop + t * kHeads + head] - top);
      total = fmaf(share, scratch[kSum + t * kHeads + head], total);
      sum = fmaf(share, scratch[kWeighted + (t * kHeads + head) * kDim + i % kDim], sum);
    }
    s.x[i] = round_bf16(sum / total);
  }
  __syncthreads();
}

template <class Layer>
__device__ void attention(Shared& s, const ol::Args& args, const Layer& layer, float* scratch) {
  const long long rows = args.position + 1;
  OL_PHASE("qkv");
  normalise(s, layer.attn_norm);
  project<kHidden>(s, layer.q, kQ, scratch + kQuery);
  project<kHidden>(s, layer.k, kKv, scratch + kQuery + kQ);
  project<kHidden>(s, layer.v, kKv, scratch + kQuery + kQ + kKv);
  ol::grid_barrier(args);
  OL_PHASE("append");
  append(layer, scratch + kQuery, args.position);
  ol::grid_barrier(args);
  OL_PHASE("attend");
  const int tasks = tasks_a_head(rows) * kHeads;
  for (int t = int(blockIdx.x) * kWarps + warp_id(); t < tasks; t += int(gridDim.x) * kWarps)
    attend(layer, rows, t % kHeads, t / kHeads, scratch);
  ol::grid_barrier(args);
  OL_PHASE("o");
  combine(s, rows, scratch);
  project<kQ>(s, layer.o, kHidden, scratch + kProjected);
  ol::grid_barrier(args);
  add_to_residual(s, scratch + kProjected);
}

template <class Layer>
__device__ void mlp(Shared& s, const ol::Args& args, const Layer& layer, float* scratch) {
  OL_PHASE("gate_up");
  normalise(s, layer.mlp_norm);
  for (int row = (int(blockIdx.x) * kWarps + warp_id()) * ROWS; row < kInter; row += int(gridDim.x) * kWarps * ROWS) {
    float gate[ROWS], up[ROWS];
    dot_rows<kHidden>(s, layer.gate, row, kInter, gate);
    dot_rows<kHidden>(s, layer.up, row, kInter, up);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float g = round_bf16(gate[r]);
      if (lane_id() == 0 && row + r < kInter)
        scratch[kInner + row + r] = round_bf16(g / (1.0f + __expf(-g)) * round_bf16(up[r]));
    }
  }
  ol::grid_barrier(args);
  OL_PHASE("down");
  load_x(s, scratch + kInner, kInter);
  project<kInter>(s, layer.down, kHidden, scratch + kProjected);
  ol::grid_barrier(args);
  add_to_residual(s, scratch + kProjected);
}

}  // namespace

OL_LAUNCH(.block = BLOCK, .grid = BLOCKS, .sync_bytes = ol::kBarrierBytes, .scratch_bytes = kScratchFloats * 4ull)

extern "C" __global__ void __launch_bounds__(BLOCK) megakernel(const __grid_constant__ ol::Args args) {
  __shared__ Shared s;
  float* scratch = reinterpret_cast<float*>(args.scratch);
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) s.residual[i] = __bfloat162float(args.token[i]);
  __syncthreads();
  for (int layer = 0; layer < kLayers; ++layer) {
    attention(s, args, args.layer[layer], scratch);
    mlp(s, args, args.layer[layer], scratch);
  }
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < kHidden; i += gridDim.x * BLOCK)
    args.hidden_out[i] = __float2bfloat16_rn(s.residual[i]);
}
