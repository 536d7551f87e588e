// The seed: one cooperative launch that decodes one token through K K K M, written to be read.
//
// Every phase is a loop over tasks that blocks take in turn, and ends at a grid-wide barrier:
//   KDA   project q k v g beta | state update, one task a head and 32 value columns | output projection
//   MLA   project q, kv | absorb, rotate, append | attention over a chunk of rows | combine, values | output projection
//   MoE   router and shared gate/up | top-k and routed gate/up | down projection
// Each block keeps the residual stream in shared memory and sums the projections' partial results itself, in the same
// order everywhere, so all blocks agree on it to the last bit. Int4 weights become exactly the task's
// bf16((q - zero) * scale) before they are multiplied; sums are f32.
#include <onelaunch.cuh>

OL_TUNABLE(BLOCK, 256, 256, 288, 384, 512, 576)     // threads a block
OL_TUNABLE(TILE, 32, 32, 64, 128)                   // columns of a weight matrix that a block takes at once
OL_TUNABLE(UNROLL, 2, 1, 2, 4, 8)                   // 16-byte weight loads in flight a lane
OL_TUNABLE(OUT_SPLIT, 2, 1, 2, 4, 8)                // slices along K of the attention output projections
OL_TUNABLE(HEADS_PER_TASK, 8, 8, 16, 32)            // MLA heads that share one pass over a chunk of the cache
OL_TUNABLE(BLOCKS_PER_SM, 1, 1, 2)

namespace {

namespace dim = ol::dim;
using ol::bf16;

constexpr int kWarps = BLOCK / 32;
constexpr int kGroup = int(dim::group);             // rows of a weight matrix that share a scale
constexpr int kHidden = int(dim::hidden);
constexpr int kLayers = int(dim::layers), kKdaLayers = int(dim::kda_layers);

constexpr int kKdaHeads = int(dim::kda_heads), kKdaDim = int(dim::kda_dim), kKdaWidth = kKdaHeads * kKdaDim;
constexpr int kValueTile = 32;                      // value columns of a head's state, one a lane
constexpr int kStateRows = (kKdaDim + kWarps - 1) / kWarps;

constexpr int kHeads = int(dim::mla_heads), kNope = int(dim::nope), kRope = int(dim::rope), kValue = int(dim::v_dim);
constexpr int kLatent = int(dim::kv_lora), kKey = kLatent + kRope;
constexpr int kQWidth = kHeads * (kNope + kRope), kKvbWidth = kHeads * (kNope + kValue), kMlaWidth = kHeads * kValue;
constexpr int kTaskHeads = HEADS_PER_TASK < kHeads ? HEADS_PER_TASK : kHeads;
constexpr int kHeadGroups = kHeads / kTaskHeads;
constexpr int kChunksMax = 132;                     // of the cache
constexpr int kRowTile = 32;                        // cache rows a block holds scores for

constexpr int kExperts = int(dim::experts), kTopK = int(dim::topk), kInter = int(dim::inter), kSlots = kTopK + 1;

constexpr int max_of(int a, int b) { return a > b ? a : b; }

// ---- scratch: what blocks tell each other, f32 ----
constexpr int kAttentionWidth = max_of(kKdaWidth, kMlaWidth);
constexpr int kProjection = 0;                                            // q k v g, or q kv
constexpr int kBeta = kProjection + max_of(4 * kKdaWidth, kQWidth + kKey);
constexpr int kAttended = kBeta + kKdaHeads;                              // attention output before its projection
constexpr int kQAbsorbed = kAttended + kAttentionWidth;                   // [head][latent | rotated]
constexpr int kChunkMax = kQAbsorbed + kHeads * kKey;                     // [chunk][head]
constexpr int kChunkSum = kChunkMax + kChunksMax * kHeads;
constexpr int kChunkLatent = kChunkSum + kChunksMax * kHeads;             // [chunk][head][latent]
constexpr int kLogits = kChunkLatent + kChunksMax * kHeads * kLatent;
constexpr int kExpertHidden = kLogits + kExperts;                         // [slot][inter]; the shared expert is last
constexpr int kPartial = kExpertHidden + kSlots * kInter;                 // [slice][hidden]
constexpr int kScratchFloats = kPartial + max_of(OUT_SPLIT, kSlots) * kHidden;

// ---- shared memory, f32 ----
constexpr int kOutSlice = (kAttentionWidth / kGroup + OUT_SPLIT - 1) / OUT_SPLIT * kGroup;
constexpr int kStageFloats = max_of(max_of(kInter, kOutSlice), max_of(kLatent, 4 * kKdaDim));
constexpr int kAttentionFloats = kTaskHeads * (kKey + kLatent + kRowTile + 3);
constexpr int kReduceFloats = kWarps * max_of(TILE, kValueTile);
struct Shared {
  float residual[kHidden];
  float normed[kHidden];
  float reduce[kReduceFloats];
  float small[64];
  float routing_weight[kSlots];
  int expert[kSlots];
  float stage[max_of(kStageFloats, kAttentionFloats)];
};

}  // namespace

OL_LAUNCH(.block = BLOCK, .grid = ol::per_sm(BLOCKS_PER_SM), .dynamic_smem = sizeof(Shared), .cluster = 1,
          .sync_bytes = ol::kBarrierBytes, .scratch_bytes = kScratchFloats * 4ull, .prepared_bytes = 0)

namespace {

// ---- small things ----

__device__ float round_bf16(float value) { return __bfloat162float(__float2bfloat16_rn(value)); }
__device__ float sigmoid(float value) { return 1.0f / (1.0f + __expf(-value)); }
__device__ float silu(float value) { return value * sigmoid(value); }
__device__ int lane_id() { return int(threadIdx.x) & 31; }
__device__ int warp_id() { return int(threadIdx.x) >> 5; }

__device__ float warp_sum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}
__device__ float warp_max(float value) {
  for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

// The sum over all threads, in every thread.
__device__ float block_sum(Shared& s, float value) {
  value = warp_sum(value);
  if (lane_id() == 0) s.small[warp_id()] = value;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += s.small[w];
  __syncthreads();
  return total;
}

// ---- the residual stream ----

__device__ void normalise(Shared& s, const bf16* weight) {
  float squares = 0;
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) squares += s.residual[i] * s.residual[i];
  const float scale = rsqrtf(block_sum(s, squares) / kHidden + 1e-6f);
  for (int i = threadIdx.x; i < kHidden; i += BLOCK)
    s.normed[i] = round_bf16(s.residual[i] * scale * __bfloat162float(weight[i]));
  __syncthreads();
}

// residual += sum of the partial results of `slices`, both rounded to bf16.
__device__ void add_partials(Shared& s, const float* partial, int slices) {
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) {
    float sum = 0;
    for (int slice = 0; slice < slices; ++slice) sum += partial[slice * kHidden + i];
    s.residual[i] = round_bf16(s.residual[i] + round_bf16(sum));
  }
  __syncthreads();
}

// ---- int4 matrix times vector ----

template <class Weight>
struct Int4 {
  const unsigned char* packed;   // (in/2, out)
  const bf16* scale;             // (in/128, out)
  const bf16* zero;
  int columns;
  __device__ Int4(const Weight& w, int columns_, long long expert = 0, long long in = 0)
      : packed(w.packed + expert * (in / 2) * columns_),
        scale(w.scale + expert * (in / kGroup) * columns_),
        zero(w.zero + expert * (in / kGroup) * columns_),
        columns(columns_) {}
};

union Pairs {                    // 16 bf16 values
  uint4 words[2];
  __nv_bfloat162 pair[8];
};

// Scales of 16 columns, and their zeros raised by 128: a nibble n becomes the bf16 128 + n by placing it under 0x43.
struct GroupScale {
  Pairs scale, zero;
  __device__ GroupScale(const bf16* scales, const bf16* zeros) {
    const __nv_bfloat162 raise = __float2bfloat162_rn(128.0f);
    for (int half = 0; half < 2; ++half) {
      scale.words[half] = reinterpret_cast<const uint4*>(scales)[half];
      zero.words[half] = reinterpret_cast<const uint4*>(zeros)[half];
    }
    for (int p = 0; p < 8; ++p) zero.pair[p] = __hadd2_rn(zero.pair[p], raise);
  }
};

// The weights of columns 2p and 2p+1 from two nibbles: bf16((q - zero) * scale).
__device__ float2 dequantise(unsigned nibbles, unsigned selector, const GroupScale& group, int p) {
  const unsigned raised = __byte_perm(nibbles, 0x43434343u, selector);
  const __nv_bfloat162 q = *reinterpret_cast<const __nv_bfloat162*>(&raised);
  return __bfloat1622float2(__hmul2_rn(__hsub2_rn(q, group.zero.pair[p]), group.scale.pair[p]));
}

// Calls use(column, even-row weight pair, odd-row weight pair) for the 16 columns x 2 rows in 16 packed bytes.
template <class Use>
__device__ void for_each_pair(uint4 packed, const GroupScale& group, Use use) {
  const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const unsigned even = words[w] & 0x0f0f0f0fu, odd = (words[w] >> 4) & 0x0f0f0f0fu;
    use(4 * w, dequantise(even, 0x4140, group, 2 * w), dequantise(odd, 0x4140, group, 2 * w));
    use(4 * w + 2, dequantise(even, 0x4342, group, 2 * w + 1), dequantise(odd, 0x4342, group, 2 * w + 1));
  }
}

constexpr int kLanesAcross = TILE / 16;             // a lane takes 16 neighbouring columns of a row pair
constexpr int kLanesDown = 32 / kLanesAcross;       // lanes that take different row pairs
constexpr int kRowsALane = kGroup / 2 / kLanesDown; // row pairs of one group that a lane takes
constexpr int kBatch = UNROLL < kRowsALane ? UNROLL : kRowsALane;

// One block's dot products: TILE columns from `column` on, rows of groups [first, last), x in shared memory (x[0] is
// the first row of the first group). Thread t < TILE gets the sum of column + t; columns from `end` on give nothing.
template <class Weight>
__device__ float tile_dot(Shared& s, const Int4<Weight>& m, int column, int end, int first, int last, const float* x) {
  const int mine = column + lane_id() % kLanesAcross * 16, down = lane_id() / kLanesAcross;
  float sum[16] = {};
  if (mine < end) {
    for (int group = first + warp_id(); group < last; group += kWarps) {
      const GroupScale scale(m.scale + (long long)group * m.columns + mine, m.zero + (long long)group * m.columns + mine);
      const unsigned char* rows = m.packed + (long long)group * (kGroup / 2) * m.columns + mine;
      const float2* pairs = reinterpret_cast<const float2*>(x + (group - first) * kGroup);
      for (int batch = 0; batch < kRowsALane; batch += kBatch) {
        uint4 packed[kBatch];
#pragma unroll
        for (int u = 0; u < kBatch; ++u)
          packed[u] = ol::load_stream(rows + (long long)((batch + u) * kLanesDown + down) * m.columns);
#pragma unroll
        for (int u = 0; u < kBatch; ++u) {
          const float2 value = pairs[(batch + u) * kLanesDown + down];
          for_each_pair(packed[u], scale, [&](int c, float2 even, float2 odd) {
            sum[c] = fmaf(odd.x, value.y, fmaf(even.x, value.x, sum[c]));
            sum[c + 1] = fmaf(odd.y, value.y, fmaf(even.y, value.x, sum[c + 1]));
          });
        }
      }
    }
  }
#pragma unroll
  for (int step = kLanesAcross; step < 32; step *= 2)
#pragma unroll
    for (int c = 0; c < 16; ++c) sum[c] += __shfl_xor_sync(~0u, sum[c], step);
  if (down == 0) {
#pragma unroll
    for (int c = 0; c < 16; ++c) s.reduce[warp_id() * TILE + lane_id() % kLanesAcross * 16 + c] = sum[c];
  }
  __syncthreads();
  float total = 0;
  if (threadIdx.x < TILE)
    for (int w = 0; w < kWarps; ++w) total += s.reduce[w * TILE + threadIdx.x];
  __syncthreads();
  return total;
}

constexpr int tiles(int columns) { return (columns + TILE - 1) / TILE; }

// One tile of out = bf16(normed x times m).
template <class Weight>
__device__ void project(Shared& s, const Int4<Weight>& m, int tile, float* out) {
  const float sum = tile_dot(s, m, tile * TILE, m.columns, 0, kHidden / kGroup, s.normed);
  const int column = tile * TILE + int(threadIdx.x);
  if (threadIdx.x < TILE && column < m.columns) out[column] = round_bf16(sum);
}

// out[row] = bf16(dot(weight[row], normed)), a warp a row; the last blocks begin, since they have the fewest tiles.
__device__ void project_rows(const Shared& s, const bf16* weight, int rows, float* out) {
  const int first = int(gridDim.x - 1 - blockIdx.x) * kWarps + warp_id();
  for (int row = first; row < rows; row += int(gridDim.x) * kWarps) {
    float sum = 0;
    for (int k = lane_id() * 2; k < kHidden; k += 64) {
      const float2 pair = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(weight + (long long)row * kHidden + k));
      sum = fmaf(pair.y, s.normed[k + 1], fmaf(pair.x, s.normed[k], sum));
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) out[row] = round_bf16(sum);
  }
}

// partial[slice] = rows of this slice of the attention output, times the output projection.
template <class Weight>
__device__ void project_out(Shared& s, const Weight& weight, int width, float* scratch) {
  const Int4<Weight> m(weight, kHidden);
  const int groups = width / kGroup, per_slice = (groups + OUT_SPLIT - 1) / OUT_SPLIT;
  for (int task = blockIdx.x; task < tiles(kHidden) * OUT_SPLIT; task += gridDim.x) {
    const int slice = task % OUT_SPLIT, tile = task / OUT_SPLIT;
    const int first = min(groups, slice * per_slice), last = min(groups, first + per_slice);
    for (int i = threadIdx.x; i < (last - first) * kGroup; i += BLOCK)
      s.stage[i] = scratch[kAttended + first * kGroup + i];
    __syncthreads();
    const float sum = tile_dot(s, m, tile * TILE, kHidden, first, last, s.stage);
    const int column = tile * TILE + int(threadIdx.x);
    if (threadIdx.x < TILE && column < kHidden) scratch[kPartial + slice * kHidden + column] = sum;
  }
}

// ---- KDA ----

template <class Layer>
__device__ void kda_project(Shared& s, const Layer& layer, float* scratch) {
  constexpr int kTiles = tiles(kKdaWidth);
  for (int task = blockIdx.x; task < 4 * kTiles; task += gridDim.x) {
    const int which = task / kTiles;
    const auto& weight = which == 0 ? layer.q : which == 1 ? layer.k : which == 2 ? layer.v : layer.g;
    project(s, Int4(weight, kKdaWidth), task % kTiles, scratch + kProjection + which * kKdaWidth);
  }
  project_rows(s, layer.beta, kKdaHeads, scratch + kBeta);
}

// The causal convolution over the three remembered values of a channel and the new one, then SiLU.
__device__ float convolve(const bf16* window, const bf16* weight, float now, int channel) {
  float sum = __bfloat162float(weight[channel * 4 + 3]) * now;
  for (int past = 0; past < 3; ++past)
    sum = fmaf(__bfloat162float(weight[channel * 4 + past]), __bfloat162float(window[past * kKdaWidth + channel]), sum);
  return round_bf16(silu(sum));
}

// The sum over warps of one value a lane, in every warp.
__device__ float sum_over_warps(Shared& s, float value) {
  s.reduce[warp_id() * kValueTile + lane_id()] = value;
  __syncthreads();
  float total = 0;
  for (int w = 0; w < kWarps; ++w) total += s.reduce[w * kValueTile + lane_id()];
  __syncthreads();
  return total;
}

// One task: 32 value columns of one head. A lane owns a column, the warps share the rows:
//   S = S * decay; pred = S^T k; S += beta * k (v - pred)^T; o = S^T q
template <class Layer>
__device__ void kda_state(Shared& s, const Layer& layer, float* scratch) {
  constexpr int kTilesAHead = kKdaDim / kValueTile;
  const float* projected = scratch + kProjection;
  float *q = s.stage, *k = q + kKdaDim, *decay = k + kKdaDim, *v = decay + kKdaDim;
  for (int task = blockIdx.x; task < kKdaHeads * kTilesAHead; task += gridDim.x) {
    const int head = task / kTilesAHead, first_value = task % kTilesAHead * kValueTile;
    for (int i = threadIdx.x; i < kKdaDim; i += BLOCK) {
      const int channel = head * kKdaDim + i;
      q[i] = convolve(layer.window_q, layer.conv_q, projected[channel], channel) * rsqrtf(float(kKdaDim));
      k[i] = convolve(layer.window_k, layer.conv_k, projected[kKdaWidth + channel], channel);
      v[i] = convolve(layer.window_v, layer.conv_v, projected[2 * kKdaWidth + channel], channel);
      decay[i] = 1.0f / (1.0f + __expf(projected[3 * kKdaWidth + channel]));  // exp(-softplus(g))
    }
    __syncthreads();
    float* state = layer.S + (long long)head * kKdaDim * kKdaDim + first_value + lane_id();
    float row[kStateRows], predicted = 0, out = 0;
#pragma unroll
    for (int r = 0; r < kStateRows; ++r) {
      const int i = warp_id() + r * kWarps;
      if (i < kKdaDim) {
        row[r] = state[i * kKdaDim] * decay[i];
        predicted = fmaf(row[r], k[i], predicted);
      }
    }
    predicted = sum_over_warps(s, predicted);
    const float delta = sigmoid(scratch[kBeta + head]) * (v[first_value + lane_id()] - predicted);
#pragma unroll
    for (int r = 0; r < kStateRows; ++r) {
      const int i = warp_id() + r * kWarps;
      if (i < kKdaDim) {
        row[r] = fmaf(k[i], delta, row[r]);
        state[i * kKdaDim] = row[r];
        out = fmaf(row[r], q[i], out);
      }
    }
    out = sum_over_warps(s, out);
    if (warp_id() == 0) scratch[kAttended + head * kKdaDim + first_value + lane_id()] = round_bf16(out);
  }
}

// Windows move on by one only after every block has read them.
template <class Layer>
__device__ void kda_shift_windows(const Layer& layer, const float* projected) {
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < 3 * kKdaWidth; i += gridDim.x * BLOCK) {
    const int which = i / kKdaWidth, channel = i % kKdaWidth;
    bf16* window = which == 0 ? layer.window_q : which == 1 ? layer.window_k : layer.window_v;
    window[channel] = window[kKdaWidth + channel];
    window[kKdaWidth + channel] = window[2 * kKdaWidth + channel];
    window[2 * kKdaWidth + channel] = __float2bfloat16_rn(projected[i]);
  }
}

__device__ void kda(Shared& s, const ol::Args& args, int index, float* scratch) {
  const auto& layer = args.kda[index];
  OL_PHASE("kda.project");
  normalise(s, layer.norm);
  kda_project(s, layer, scratch);
  ol::grid_barrier(args);
  OL_PHASE("kda.state");
  kda_state(s, layer, scratch);
  ol::grid_barrier(args);
  OL_PHASE("kda.out");
  kda_shift_windows(layer, scratch + kProjection);
  project_out(s, layer.o, kKdaWidth, scratch);
  ol::grid_barrier(args);
}

// ---- MLA ----

template <class Layer>
__device__ void mla_project(Shared& s, const Layer& layer, float* scratch) {
  constexpr int kTilesQ = tiles(kQWidth), kTilesKv = tiles(kKey);
  for (int task = blockIdx.x; task < kTilesQ + kTilesKv; task += gridDim.x) {
    const bool is_q = task < kTilesQ;
    const auto& weight = is_q ? layer.q : layer.kv_a;
    project(s, Int4(weight, is_q ? kQWidth : kKey), is_q ? task : task - kTilesQ,
            scratch + kProjection + (is_q ? 0 : kQWidth));
  }
}

// theta^(-2i/rope) = exp(-i * step), by its series: the compiler works it out.
constexpr double exp_of(double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < 40; ++n) sum += term *= x / n;
  return sum;
}
struct Frequencies {
  double of[kRope / 2];
  constexpr Frequencies() : of() {
    constexpr double kLogTheta = 9.210340371976182736;  // ln 10000
    for (int i = 0; i < kRope / 2; ++i) of[i] = 1.0 / exp_of(kLogTheta * 2 * i / kRope);
  }
};
__constant__ const Frequencies frequencies{};

// Rotates the pair (even, odd) i by position * frequency. The angle is reduced in double: f32 would lose 1e-3 of it.
__device__ float2 rotate(float even, float odd, int i, long long position) {
  const double turns = double(position) * frequencies.of[i] * 0.15915494309189533577;
  float sine, cosine;
  __sincosf(float((turns - rint(turns)) * 6.283185307179586477), &sine, &cosine);
  return {round_bf16(even * cosine - odd * sine), round_bf16(even * sine + odd * cosine)};
}

// Rotated parts of the queries, and the new row of the cache.
template <class Layer>
__device__ void mla_rotate_and_append(const Layer& layer, long long position, float* scratch) {
  const float *query = scratch + kProjection, *kv = query + kQWidth;
  constexpr int kPairs = kRope / 2, kQueryPairs = kHeads * kPairs;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < kQueryPairs + kPairs + kLatent; i += gridDim.x * BLOCK) {
    if (i < kQueryPairs) {
      const int head = i / kPairs, pair = i % kPairs;
      const float* source = query + head * (kNope + kRope) + kNope + 2 * pair;
      const float2 rotated = rotate(source[0], source[1], pair, position);
      float* target = scratch + kQAbsorbed + head * kKey + kLatent + 2 * pair;
      target[0] = rotated.x;
      target[1] = rotated.y;
    } else if (i < kQueryPairs + kPairs) {
      const int pair = i - kQueryPairs;
      const float2 rotated = rotate(kv[kLatent + 2 * pair], kv[kLatent + 2 * pair + 1], pair, position);
      bf16* target = layer.k_rope + position * kRope + 2 * pair;
      target[0] = __float2bfloat16_rn(rotated.x);
      target[1] = __float2bfloat16_rn(rotated.y);
    } else {
      const int c = i - kQueryPairs - kPairs;
      layer.c_kv[position * kLatent + c] = __float2bfloat16_rn(kv[c]);
    }
  }
}

// q_absorbed[head][latent] = sum over the head's key columns of W_k[latent][column] * q[column], so that scores are
// taken against the cached latents themselves. Eight lanes take the 128 columns of a row pair, four pairs a warp.
template <class Layer>
__device__ void mla_absorb(const Layer& layer, float* scratch) {
  constexpr int kLanesARow = kNope / 16, kPairsAWarp = 32 / kLanesARow, kPairs = kLatent / 2;
  const int sub = lane_id() % kLanesARow, down = lane_id() / kLanesARow;
  const int warps = int(gridDim.x) * kWarps;
  const Int4 m(layer.kv_b, kKvbWidth);
  for (int task = int(blockIdx.x) * kWarps + warp_id(); task < kHeads * kPairs / kPairsAWarp; task += warps) {
    const int head = task / (kPairs / kPairsAWarp), pair = task % (kPairs / kPairsAWarp) * kPairsAWarp + down;
    const int column = head * (kNope + kValue) + sub * 16, group = pair * 2 / kGroup;
    const GroupScale scale(m.scale + (long long)group * kKvbWidth + column, m.zero + (long long)group * kKvbWidth + column);
    const uint4 packed = ol::load_stream(m.packed + (long long)pair * kKvbWidth + column);
    const float* q = scratch + kProjection + head * (kNope + kRope) + sub * 16;
    float even_sum = 0, odd_sum = 0;
    for_each_pair(packed, scale, [&](int c, float2 even, float2 odd) {
      even_sum = fmaf(even.y, q[c + 1], fmaf(even.x, q[c], even_sum));
      odd_sum = fmaf(odd.y, q[c + 1], fmaf(odd.x, q[c], odd_sum));
    });
    for (int step = 1; step < kLanesARow; step *= 2) {
      even_sum += __shfl_xor_sync(~0u, even_sum, step);
      odd_sum += __shfl_xor_sync(~0u, odd_sum, step);
    }
    if (sub == 0) {
      scratch[kQAbsorbed + head * kKey + 2 * pair] = even_sum;
      scratch[kQAbsorbed + head * kKey + 2 * pair + 1] = odd_sum;
    }
  }
}

struct AttentionTile {           // views into Shared::stage
  float *query, *latent, *score, *top, *total, *shrink;
  __device__ explicit AttentionTile(float* stage)
      : query(stage), latent(query + kTaskHeads * kKey), score(latent + kTaskHeads * kLatent),
        top(score + kTaskHeads * kRowTile), total(top + kTaskHeads), shrink(total + kTaskHeads) {}
};

// score[head][row] of up to kRowTile rows: a warp takes a row and keeps it in registers over the heads.
template <class Layer>
__device__ void mla_scores(const AttentionTile& t, const Layer& layer, long long first, int rows) {
  constexpr int kPairsALane = (kKey / 2 + 31) / 32;
  const float scale = rsqrtf(float(kNope + kRope));
  for (int row = warp_id(); row < rows; row += kWarps) {
    const auto* c = reinterpret_cast<const __nv_bfloat162*>(layer.c_kv + (first + row) * kLatent);
    const auto* r = reinterpret_cast<const __nv_bfloat162*>(layer.k_rope + (first + row) * kRope);
    float2 key[kPairsALane];
#pragma unroll
    for (int p = 0; p < kPairsALane; ++p) {
      const int i = p * 32 + lane_id();
      key[p] = i < kLatent / 2 ? __bfloat1622float2(c[i])
               : i < kKey / 2  ? __bfloat1622float2(r[i - kLatent / 2])
                               : float2{0, 0};
    }
    for (int head = 0; head < kTaskHeads; ++head) {
      const float2* q = reinterpret_cast<const float2*>(t.query + head * kKey);
      float sum = 0;
#pragma unroll
      for (int p = 0; p < kPairsALane; ++p) {
        const int i = p * 32 + lane_id();
        const float2 value = i < kKey / 2 ? q[i] : float2{0, 0};
        sum = fmaf(key[p].y, value.y, fmaf(key[p].x, value.x, sum));
      }
      sum = warp_sum(sum);
      if (lane_id() == 0) t.score[head * kRowTile + row] = sum * scale;
    }
  }
}

// Scores become weights relative to the running maximum of each head; `shrink` rescales what was summed before.
__device__ void mla_softmax(const AttentionTile& t, int rows) {
  static_assert(kRowTile == 32, "a lane a row");
  for (int head = warp_id(); head < kTaskHeads; head += kWarps) {
    const float score = lane_id() < rows ? t.score[head * kRowTile + lane_id()] : -INFINITY;
    const float before = t.top[head], top = fmaxf(before, warp_max(score));
    const float weight = __expf(score - top), shrink = __expf(before - top);
    t.score[head * kRowTile + lane_id()] = weight;
    const float sum = warp_sum(weight);
    if (lane_id() == 0) {
      t.top[head] = top;
      t.total[head] = t.total[head] * shrink + sum;
      t.shrink[head] = shrink;
    }
    __syncwarp();
  }
}

// latent[head] = latent[head] * shrink + sum over rows of weight * c_kv[row]; a warp a head, lanes over column pairs.
template <class Layer>
__device__ void mla_weigh(const AttentionTile& t, const Layer& layer, long long first, int rows) {
  constexpr int kPairsALane = kLatent / 64;
  for (int head = warp_id(); head < kTaskHeads; head += kWarps) {
    float2* latent = reinterpret_cast<float2*>(t.latent + head * kLatent);
    float2 sum[kPairsALane];
#pragma unroll
    for (int p = 0; p < kPairsALane; ++p) {
      sum[p] = latent[p * 32 + lane_id()];
      sum[p].x *= t.shrink[head];
      sum[p].y *= t.shrink[head];
    }
    for (int row = 0; row < rows; ++row) {
      const float weight = t.score[head * kRowTile + row];
      const auto* c = reinterpret_cast<const __nv_bfloat162*>(layer.c_kv + (first + row) * kLatent);
#pragma unroll
      for (int p = 0; p < kPairsALane; ++p) {
        const float2 value = __bfloat1622float2(c[p * 32 + lane_id()]);
        sum[p].x = fmaf(weight, value.x, sum[p].x);
        sum[p].y = fmaf(weight, value.y, sum[p].y);
      }
    }
#pragma unroll
    for (int p = 0; p < kPairsALane; ++p) latent[p * 32 + lane_id()] = sum[p];
  }
}

__device__ int attention_chunks() { return min(kChunksMax, max(1, int(gridDim.x) / kHeadGroups)); }

// Attention of kTaskHeads heads over one chunk of the cached rows, with a running softmax.
template <class Layer>
__device__ void mla_attend(Shared& s, const Layer& layer, long long rows, float* scratch) {
  const AttentionTile t(s.stage);
  const int chunks = attention_chunks();
  const long long per_chunk = (rows + chunks - 1) / chunks;
  for (int task = blockIdx.x; task < chunks * kHeadGroups; task += gridDim.x) {
    const int chunk = task / kHeadGroups, first_head = task % kHeadGroups * kTaskHeads;
    for (int i = threadIdx.x; i < kTaskHeads * kKey; i += BLOCK)
      t.query[i] = scratch[kQAbsorbed + first_head * kKey + i];
    for (int i = threadIdx.x; i < kTaskHeads * kLatent; i += BLOCK) t.latent[i] = 0;
    for (int i = threadIdx.x; i < kTaskHeads; i += BLOCK) {
      t.top[i] = -1e30f;
      t.total[i] = 0;
    }
    __syncthreads();
    const long long begin = chunk * per_chunk, end = min(rows, begin + per_chunk);
    for (long long row = begin; row < end; row += kRowTile) {
      const int count = int(min((long long)kRowTile, end - row));
      mla_scores(t, layer, row, count);
      __syncthreads();
      mla_softmax(t, count);
      __syncthreads();
      mla_weigh(t, layer, row, count);
      __syncthreads();
    }
    const int slot = chunk * kHeads + first_head;
    for (int i = threadIdx.x; i < kTaskHeads * kLatent; i += BLOCK)
      scratch[kChunkLatent + slot * kLatent + i] = t.latent[i];
    for (int i = threadIdx.x; i < kTaskHeads; i += BLOCK) {
      scratch[kChunkMax + slot + i] = t.top[i];
      scratch[kChunkSum + slot + i] = t.total[i];
    }
    __syncthreads();
  }
}

// One task: some value columns of one head. Chunks meet first, then the latent goes through W_v.
template <class Layer>
__device__ void mla_values(Shared& s, const Layer& layer, float* scratch) {
  constexpr int kTilesAHead = tiles(kValue);
  const int chunks = attention_chunks();
  for (int task = blockIdx.x; task < kHeads * kTilesAHead; task += gridDim.x) {
    const int head = task / kTilesAHead, tile = task % kTilesAHead;
    float top = -1e30f, total = 0;
    for (int c = 0; c < chunks; ++c) top = fmaxf(top, scratch[kChunkMax + c * kHeads + head]);
    for (int c = 0; c < chunks; ++c)
      total += scratch[kChunkSum + c * kHeads + head] * __expf(scratch[kChunkMax + c * kHeads + head] - top);
    for (int i = threadIdx.x; i < kLatent; i += BLOCK) {
      float sum = 0;
      for (int c = 0; c < chunks; ++c)
        sum = fmaf(scratch[kChunkLatent + (c * kHeads + head) * kLatent + i],
                   __expf(scratch[kChunkMax + c * kHeads + head] - top), sum);
      s.stage[i] = sum / total;
    }
    __syncthreads();
    const int first = head * (kNope + kValue) + kNope, column = first + tile * TILE;
    const float sum = tile_dot(s, Int4(layer.kv_b, kKvbWidth), column, first + kValue, 0, kLatent / kGroup, s.stage);
    const int value = tile * TILE + int(threadIdx.x);
    if (threadIdx.x < TILE && value < kValue) scratch[kAttended + head * kValue + value] = round_bf16(sum);
  }
}

__device__ void mla(Shared& s, const ol::Args& args, float* scratch) {
  const auto& layer = args.mla[0];
  OL_PHASE("mla.project");
  normalise(s, layer.norm);
  mla_project(s, layer, scratch);
  ol::grid_barrier(args);
  OL_PHASE("mla.absorb");
  mla_rotate_and_append(layer, args.position, scratch);
  mla_absorb(layer, scratch);
  ol::grid_barrier(args);
  OL_PHASE("mla.attend");
  mla_attend(s, layer, args.position + 1, scratch);
  ol::grid_barrier(args);
  OL_PHASE("mla.values");
  mla_values(s, layer, scratch);
  ol::grid_barrier(args);
  OL_PHASE("mla.out");
  project_out(s, layer.o, kMlaWidth, scratch);
  ol::grid_barrier(args);
}

// ---- MoE ----

// The kTopK largest of bf16 logits by one warp, ties to the lower index; weights normalised over the chosen.
__device__ void choose_experts(Shared& s, const float* logits) {
  if (warp_id() == 0) {
    constexpr int kALane = (kExperts + 31) / 32;
    float mine[kALane], top = -INFINITY, all = 0, chosen = 0;
    for (int e = 0; e < kALane; ++e) {
      const int expert = e * 32 + lane_id();
      mine[e] = expert < kExperts ? logits[expert] : -INFINITY;
      top = fmaxf(top, mine[e]);
    }
    top = warp_max(top);
    for (int e = 0; e < kALane; ++e) all += __expf(mine[e] - top);
    all = warp_sum(all);
    for (int slot = 0; slot < kTopK; ++slot) {
      float best = -INFINITY;
      int index = kExperts;
      for (int e = 0; e < kALane; ++e)
        if (mine[e] > best) best = mine[e], index = e * 32 + lane_id();
      for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_xor_sync(~0u, best, step);
        const int other_index = __shfl_xor_sync(~0u, index, step);
        if (other > best || (other == best && other_index < index)) best = other, index = other_index;
      }
      for (int e = 0; e < kALane; ++e)
        if (index == e * 32 + lane_id()) mine[e] = -INFINITY;
      const float weight = __expf(best - top) / all;
      chosen += weight;
      if (lane_id() == 0) s.expert[slot] = index, s.routing_weight[slot] = weight;
    }
    __syncwarp();
    for (int slot = lane_id(); slot < kTopK; slot += 32) s.routing_weight[slot] *= 2.446f / (chosen + 1e-9f);
    if (lane_id() == 0) s.routing_weight[kTopK] = 1.0f;
  }
  __syncthreads();
}

// hidden[slot] = silu(gate) * up * routing weight, one tile.
template <class Gate>
__device__ void expert_hidden(Shared& s, const Gate& gate, const Gate& up, long long expert, int slot, int tile, float* hidden) {
  float gated = 0, raised = 0;
#pragma unroll 1
  for (int which = 0; which < 2; ++which) {
    const Int4 m(which == 0 ? gate : up, kInter, expert, kHidden);
    const float sum = tile_dot(s, m, tile * TILE, kInter, 0, kHidden / kGroup, s.normed);
    (which == 0 ? gated : raised) = sum;
  }
  const int column = tile * TILE + int(threadIdx.x);
  if (threadIdx.x < TILE && column < kInter)
    hidden[slot * kInter + column] = silu(gated) * raised * (slot < kTopK ? s.routing_weight[slot] : 1.0f);
}

template <class Layer>
__device__ void moe_down(Shared& s, const Layer& layer, float* scratch) {
  for (int task = blockIdx.x; task < tiles(kHidden) * kSlots; task += gridDim.x) {
    const int slot = task % kSlots, tile = task / kSlots;
    const bool shared_expert = slot == kTopK;
    for (int i = threadIdx.x; i < kInter; i += BLOCK) s.stage[i] = scratch[kExpertHidden + slot * kInter + i];
    __syncthreads();
    const auto& weight = shared_expert ? layer.shared_down : layer.down;
    const Int4 m(weight, kHidden, shared_expert ? 0 : s.expert[slot], kInter);
    const float sum = tile_dot(s, m, tile * TILE, kHidden, 0, kInter / kGroup, s.stage);
    const int column = tile * TILE + int(threadIdx.x);
    if (threadIdx.x < TILE && column < kHidden) scratch[kPartial + slot * kHidden + column] = sum;
  }
}

__device__ void moe(Shared& s, const ol::Args& args, int index, float* scratch) {
  const auto& layer = args.moe[index];
  OL_PHASE("moe.router");
  normalise(s, layer.norm);
  for (int tile = blockIdx.x; tile < tiles(kInter); tile += gridDim.x)
    expert_hidden(s, layer.shared_gate, layer.shared_up, 0, kTopK, tile, scratch + kExpertHidden);
  project_rows(s, layer.router, kExperts, scratch + kLogits);
  ol::grid_barrier(args);
  OL_PHASE("moe.gate_up");
  choose_experts(s, scratch + kLogits);
  for (int task = blockIdx.x; task < kTopK * tiles(kInter); task += gridDim.x) {
    const int slot = task / tiles(kInter);
    expert_hidden(s, layer.gate, layer.up, s.expert[slot], slot, task % tiles(kInter), scratch + kExpertHidden);
  }
  ol::grid_barrier(args);
  OL_PHASE("moe.down");
  moe_down(s, layer, scratch);
  ol::grid_barrier(args);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM) megakernel(const __grid_constant__ ol::Args args) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  float* scratch = reinterpret_cast<float*>(args.scratch);
  for (int i = threadIdx.x; i < kHidden; i += BLOCK) s.residual[i] = __bfloat162float(args.token[i]);
  __syncthreads();
  for (int layer = 0; layer < kLayers; ++layer) {
    if (layer < kKdaLayers) kda(s, args, layer, scratch);
    else mla(s, args, scratch);
    add_partials(s, scratch + kPartial, OUT_SPLIT);
    moe(s, args, layer, scratch);
    add_partials(s, scratch + kPartial, kSlots);
  }
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < kHidden; i += gridDim.x * BLOCK)
    args.hidden_out[i] = __float2bfloat16_rn(s.residual[i]);
}
