#include "tasks/ops/attention_eager.h"

namespace onelaunch::tasks {
namespace {

constexpr const char* kScores = R"cuda(
constexpr int kScoredRows = 4;
// A warp holds kScoredRows rows, a lane every 32nd element, and multiplies them by the queries of `count` heads.
template <int count, int width, class Q>
__device__ inline void score_rows(const Sum (&row)[kScoredRows][(width + 31) / 32], const Q* queries, Sum scale,
                                  float* scores, long long first, long long position, long long capacity) {
  const int lane = threadIdx.x % 32;
  for (int head = 0; head < count; ++head) {
    Sum sums[kScoredRows] = {};
#pragma unroll
    for (int p = 0; p < (width + 31) / 32; ++p) {
      const Sum q = p * 32 + lane < width ? load(queries, head * width + p * 32 + lane) : 0;
#pragma unroll
      for (int r = 0; r < kScoredRows; ++r) sums[r] += q * row[r][p];
    }
    Sum sum = summed(sums);
    for (int step = 16 / kScoredRows; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    const long long mine = first + lane / (32 / kScoredRows);
    if (lane % (32 / kScoredRows) == 0 && mine <= position) scores[head * capacity + mine] = sum * scale;
  }
}
)cuda";

constexpr const char* kSoftmax = R"cuda(
// A block of 1024 a head.
template <int heads>
__device__ void softmax(float* scores, long long position, long long capacity) {
  float* mine = scores + blockIdx.x * capacity;
  const int rows = (int)position + 1;
  Sum top = -3e38f, sum = 0;
#pragma unroll 4
  for (int row = threadIdx.x; row < rows; row += 1024) top = max(top, load(mine, row));
  top = block_max<32>(top);
#pragma unroll 4
  for (int row = threadIdx.x; row < rows; row += 1024) {
    const Sum weight = exp(mine[row] - top);
    mine[row] = weight;
    sum += weight;
  }
  sum = block_sum<32>(sum);
#pragma unroll 4
  for (int row = threadIdx.x; row < rows; row += 1024) mine[row] /= sum;
}
)cuda";

constexpr const char* kMix = R"cuda(
// A warp sums a chunk of rows for some columns (a lane one to four) of some heads that share them. The weights of 32
// rows wait in shared memory.
template <int heads, int kv_heads, int width, int chunk>
__device__ void mix_chunks(const float* weights, const bf16* rows, float* partial, long long position, long long capacity) {
  constexpr int sharing = heads / kv_heads, count = sharing < 8 ? sharing : 8, groups = (sharing + count - 1) / count;
  constexpr int wide = width % 128 == 0 ? 4 : width % 64 == 0 ? 2 : 1, tiles = (width + 32 * wide - 1) / (32 * wide);
  __shared__ alignas(16) Sum staged[8][32][count];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int item = blockIdx.x * 8 + warp, column = item % tiles * 32 * wide + lane * wide;
  const int group = item / tiles % groups, kv_head = item / (tiles * groups) % kv_heads, part = item / (tiles * groups * kv_heads);
  const int first = part * chunk, last = min(first + chunk, (int)position + 1), head = kv_head * sharing + group * count;
  const int mine = min(count, sharing - group * count);
  if (first >= last) return;
  Sum sums[count][wide] = {};
  for (int row = first; row < last; row += 32) {
    __syncwarp();
#pragma unroll
    for (int h = 0; h < count; ++h)
      staged[warp][lane][h] = h < mine && row + lane < last ? weights[(head + h) * capacity + row + lane] : 0;
    __syncwarp();
#pragma unroll 8
    for (int r = 0; r < min(32, last - row); ++r) {
      const bf16* from = rows + ((long long)(row + r) * kv_heads + kv_head) * width + column;
      Sum value[wide];
      if constexpr (wide == 4) {
        const uint2 words = *(const uint2*)from;
        value[0] = __uint_as_float(words.x << 16), value[1] = __uint_as_float(words.x & 0xffff0000u);
        value[2] = __uint_as_float(words.y << 16), value[3] = __uint_as_float(words.y & 0xffff0000u);
      } else if constexpr (wide == 2) {
        const unsigned word = *(const unsigned*)from;
        value[0] = __uint_as_float(word << 16), value[1] = __uint_as_float(word & 0xffff0000u);
      } else {
        value[0] = column < width ? load(from, 0) : 0;
      }
#pragma unroll
      for (int h = 0; h < count; ++h)
#pragma unroll
        for (int c = 0; c < wide; ++c) sums[h][c] += staged[warp][r][h] * value[c];
    }
  }
#pragma unroll
  for (int h = 0; h < count; ++h)
#pragma unroll
    for (int c = 0; c < wide; ++c)
      if (h < mine && column + c < width) partial[((long long)part * heads + head + h) * width + column + c] = sums[h][c];
}
// The chunks of 32 elements, shared by the warps of a block.
template <int elements, int chunk, class Y>
__device__ void add_chunks(const float* partial, Y* y, long long position) {
  __shared__ Sum part[8][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane, chunks = (int)position / chunk + 1;
  Sum sum = 0;
  if (i < elements) {
#pragma unroll 4
    for (int c = warp; c < chunks; c += 8) sum += partial[(long long)c * elements + i];
  }
  part[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || i >= elements) return;
  sum = 0;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += part[w][lane];
  store(y, i, sum);
}
)cuda";

constexpr std::int64_t kWarps = 8, kColumnsAWarp = 32, kHeadsAWarp = 8;

// Short chunks where there is little else to divide.
std::int64_t rows_in_chunk(const EagerMix& mix) { return mix.heads * mix.width <= 1024 ? 32 : 128; }

}  // namespace

EagerOperand eager_scores(EagerBuilder& builder, std::int64_t heads) {
  return builder.buffer("scores." + std::to_string(heads), heads * builder.capacity(), DType::f32);
}

void eager_score_source(EagerBuilder& builder) { builder.source(kScores); }

void eager_softmax(const OpView& view, EagerBuilder& builder, const EagerOperand& scores, std::int64_t heads) {
  builder.source(kSoftmax);
  builder.launch(view, {.function = instance("softmax", {heads}),
                        .operands = {scores, builder.position(), builder.capacity_word()},
                        .grid = heads,
                        .block = 1024});
}

void eager_mix(const OpView& view, EagerBuilder& builder, const EagerMix& mix) {
  const std::int64_t elements = mix.heads * mix.width, chunk = rows_in_chunk(mix);
  const std::int64_t chunks = blocks_for(builder.capacity(), chunk), wide = mix.width % 128 == 0  ? 4
                                                                            : mix.width % 64 == 0 ? 2
                                                                                                  : 1;
  const std::int64_t items =
      blocks_for(mix.heads / mix.kv_heads, kHeadsAWarp) * mix.kv_heads * blocks_for(mix.width, kColumnsAWarp * wide);
  const EagerOperand partial = builder.buffer("mixed." + std::to_string(elements), chunks * elements, DType::f32);
  builder.source(kMix);
  builder.launch(view, {.function = instance("mix_chunks", {mix.heads, mix.kv_heads, mix.width, chunk}),
                        .operands = {mix.weights, mix.rows, partial, builder.position(), builder.capacity_word()},
                        .grid = blocks_for(chunks * items, kWarps)});
  builder.launch(view, {.function = instance("add_chunks", {elements, chunk}),
                        .operands = {partial, mix.y, builder.position()},
                        .grid = blocks_for(elements, kColumnsAWarp)});
}

}  // namespace onelaunch::tasks
