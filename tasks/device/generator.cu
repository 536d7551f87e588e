// Draws weights and states on the device with the bits of tasks/generator.cpp: no product may be fused into a sum here,
// so floats are only combined by intrinsics. One module serves every task, seed and input set.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

// Where values come from.
struct Source {
  u32 key0, key1, id;
  float scale, mean;
  double spread;
  u64 slice;     // elements that share a factor of the spread
  float outlier, marked;
  u64 channels;  // that marks repeat over
};

__device__ inline Source source_of(u64 seed, u64 id, u64 scale_mean, u64 spread_bits, u64 outlier_marked, u64 channels, u64 slice) {
  return {(u32)seed, (u32)(seed >> 32), (u32)id, __uint_as_float((u32)scale_mean), __uint_as_float((u32)(scale_mean >> 32)),
          __longlong_as_double((long long)spread_bits), slice, __uint_as_float((u32)outlier_marked),
          __uint_as_float((u32)(outlier_marked >> 32)), channels};
}

__device__ inline uint4 philox(const Source& source, u64 block, u32 stream) {
  u32 c0 = source.id, c1 = (u32)block, c2 = (u32)(block >> 32), c3 = stream, k0 = source.key0, k1 = source.key1;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u64 a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = (u32)(b >> 32) ^ c1 ^ k0;
    c1 = (u32)b;
    c2 = (u32)(a >> 32) ^ c3 ^ k1;
    c3 = (u32)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {c0, c1, c2, c3};
}

// The scale of one slice: times 2^x with a straight line between powers of two, x = spread * (2u - 1).
__device__ inline float scale_of(const Source& source, u64 slice) {
  if (source.spread == 0) return source.scale;
  const double unit = __dmul_rn((double)philox(source, slice, 0x80000000u).x, 1.0 / 4294967296.0);
  const double x = __dmul_rn(source.spread, __dadd_rn(__dmul_rn(2, unit), -1));
  const double whole = floor(x), line = __dadd_rn(1, __dadd_rn(x, -whole));
  const double power = __longlong_as_double((long long)(1023 + (int)whole) << 52);
  return __fmul_rn(source.scale, (float)__dmul_rn(line, power));
}

__device__ inline float value_of(float quantile, float scale, float mean) { return __fadd_rn(__fmul_rn(quantile, scale), mean); }

// The marked one of the 128 channels of a group.
__device__ inline u32 marked_channel(Source source, u64 group) {
  source.id = 0;
  return philox(source, group, 0).x % 128;
}
// Which of eight elements is an outlier; 8 none.
__device__ inline int outlier_of(const Source& source, u64 block) {
  const u32 word = philox(source, block, 0x40000000u).x;
  return word / 8 % 8 == 0 ? (int)(word % 8) : 8;
}

// To nearest even; a NaN never comes here.
__device__ inline u16 bf16_of(float value) {
  const u32 bits = __float_as_uint(value);
  return (u16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
__device__ inline void put(u16* to, float value) { *to = bf16_of(value); }
__device__ inline void put(float* to, float value) { *to = value; }
__device__ inline void put(unsigned char* to, float value) { *to = (unsigned char)fminf(fmaxf(rintf(value), 0.0f), 255.0f); }
__device__ inline void put(int* to, float value) { *to = (int)fminf(fmaxf(rintf(value), -16777216.0f), 16777216.0f); }

// ---- plain tensors: a thread draws eight elements. Those from `drawn` on are zero ----

template <class T>
__device__ inline void fill(T* out, const float* table, const Source& source, u64 drawn, u64 elements) {
  const u64 block = blockIdx.x * 256ull + threadIdx.x, first = block * 8;
  if (first >= elements) return;
  const uint4 words = philox(source, block, 0);
  const u32 word[4] = {words.x, words.y, words.z, words.w};
  u64 slice = first / source.slice, next = (slice + 1) * source.slice;
  float scale = scale_of(source, slice);
  const int outlier = source.outlier == 1 ? 8 : outlier_of(source, block);
  alignas(16) T values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (first + i == next) {
      scale = scale_of(source, ++slice);
      next += source.slice;
    }
    float value = table[i % 2 ? word[i / 2] >> 16 : word[i / 2] & 0xffff];
    if (i == outlier) value = __fmul_rn(value, source.outlier);
    value = scale == 0 ? source.mean : value_of(value, scale, source.mean);
    if (source.marked != 1) {
      const u64 channel = (first + i) % source.channels;
      if (marked_channel(source, channel / 128) == channel % 128) value = __fmul_rn(value, source.marked);
    }
    put(&values[i], value);
    if (first + i >= drawn) values[i] = 0;
  }
  if (first + 8 > elements) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (first + i < elements) out[first + i] = values[i];
  } else if (sizeof(T) == 1) {
    *(uint2*)(out + first) = *(const uint2*)values;
  } else {
#pragma unroll
    for (int i = 0; i < (int)sizeof values / 16; ++i) ((uint4*)(out + first))[i] = ((const uint4*)values)[i];
  }
}

#define FILL(name, T)                                                                                                    \
  extern "C" __global__ void __launch_bounds__(256) name(T* out, const float* table, u64 seed, u64 id, u64 scale_mean,  \
                                                         u64 spread, u64 outlier_marked, u64 channels, u64 slice,        \
                                                         u64 drawn, u64 elements) {                                      \
    fill(out, table, source_of(seed, id, scale_mean, spread, outlier_marked, channels, slice), drawn, elements);        \
  }
FILL(fill_bf16, u16)
FILL(fill_f32, float)
FILL(fill_u8, unsigned char)
FILL(fill_i32, int)

// ---- int4 weights: groups of 128 rows, one scale and zero a column ----

__device__ inline float nibble(float value) { return rintf(fminf(fmaxf(value, 0.0f), 15.0f)); }
__device__ inline float2 scale_and_zero(float low, float high) {
  const float scale = __fdiv_rn(fmaxf(__fadd_rn(high, -low), 1e-8f), 15.0f);
  return {scale, nibble(__fdiv_rn(-low, scale))};
}
// The row of a group that is zero as a whole; 128 none.
__device__ inline u32 zero_row(const Source& source, u64 group) {
  return source.marked == 1 ? 128 : marked_channel(source, group % (source.channels / 128));
}
__device__ inline u32 quantised(float value, float2 column) { return (u32)nibble(__fadd_rn(__fdiv_rn(value, column.x), column.y)); }

// The table is odd: its upper half is the lower one mirrored, so that half of it is enough.
constexpr int kHalfTable = 32768;
__device__ inline float quantile_of(const float* half_table, u32 half) {
  const u32 upper = half & 0x8000 ? 0xffffffffu : 0;
  return __uint_as_float(__float_as_uint(half_table[(half ^ upper) & 0x7fff]) ^ (upper & 0x80000000u));
}

// A block holds half the table in shared memory and takes one tile, a group of 128 rows by 256 columns, after the
// other. A warp draws four rows of a tile, a lane eight columns, and keeps the halves in registers. Values grow with
// their halves, so that the least and the largest half of a column tell its range. `out` is a multiple of 8.
constexpr int kTileColumns = 256, kWarps = 32, kRowsAWarp = 4;
struct TileMemory {
  float half_table[kHalfTable];
  float2 columns[kTileColumns];
  u16 least[kWarps][kTileColumns], most[kWarps][kTileColumns];
};

__device__ inline void range_of_columns(const u32 (&words)[kRowsAWarp][4], TileMemory& memory, u32 zero, int warp, int lane) {
  alignas(16) u16 least[8], most[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    u32 low = 0xffff, high = 0;
#pragma unroll
    for (int r = 0; r < kRowsAWarp; ++r) {
      const u32 half = c % 2 ? words[r][c / 2] >> 16 : words[r][c / 2] & 0xffff;
      if (warp * kRowsAWarp + r == zero) continue;
      low = min(low, half);
      high = max(high, half);
    }
    least[c] = (u16)low;
    most[c] = (u16)high;
  }
  *(uint4*)&memory.least[warp][lane * 8] = *(const uint4*)least;
  *(uint4*)&memory.most[warp][lane * 8] = *(const uint4*)most;
}

__device__ inline float2 column_of(const TileMemory& memory, int column, bool with_zero, float scale, float mean) {
  u32 low = 0xffff, high = 0;
  for (int w = 0; w < kWarps; ++w) {
    low = min(low, (u32)memory.least[w][column]);
    high = max(high, (u32)memory.most[w][column]);
  }
  const float least = value_of(quantile_of(memory.half_table, low), scale, mean);
  const float most = value_of(quantile_of(memory.half_table, high), scale, mean);
  return with_zero ? scale_and_zero(fminf(least, 0), fmaxf(most, 0)) : scale_and_zero(least, most);
}

__device__ inline void pack_rows(const u32 (&words)[kRowsAWarp][4], const TileMemory& memory, int zero, int lane, float scale,
                                 float mean, unsigned char* packed, u64 out) {
  float2 column[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) column[c] = memory.columns[lane * 8 + c];
#pragma unroll
  for (int pair = 0; pair < kRowsAWarp / 2; ++pair) {
    u32 bytes[2] = {0, 0};
#pragma unroll
    for (int c = 0; c < 8; ++c) {
#pragma unroll
      for (int odd = 0; odd < 2; ++odd) {
        const u32 word = words[2 * pair + odd][c / 2];
        const float drawn = value_of(quantile_of(memory.half_table, c % 2 ? word >> 16 : word & 0xffff), scale, mean);
        const float value = 2 * pair + odd == zero ? 0 : drawn;
        bytes[c / 4] |= quantised(value, column[c]) << (c % 4 * 8 + odd * 4);
      }
    }
    *(uint2*)(packed + pair * out) = make_uint2(bytes[0], bytes[1]);
  }
}

extern "C" __global__ void __launch_bounds__(1024)
fill_int4(unsigned char* packed, u16* scales, u16* zeros, const float* table, u64 seed, u64 id, u64 scale_mean, u64 spread,
          u64 outlier_marked, u64 in, u64 out, u64 groups) {
  extern __shared__ uint4 shared[];
  TileMemory& memory = *(TileMemory*)shared;
  const Source source = source_of(seed, id, scale_mean, spread, outlier_marked, in, in * out);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < kHalfTable / 4; i += 1024) ((float4*)memory.half_table)[i] = ((const float4*)table)[i];
  const u64 across = (out + kTileColumns - 1) / kTileColumns;
  __syncthreads();
  for (u64 tile = blockIdx.x; tile < groups * across; tile += gridDim.x) {
    const u64 group = tile / across, first = tile % across * kTileColumns, column = first + lane * 8;
    const float scale = scale_of(source, group / (in / 128));
    const u32 zero = zero_row(source, group);
    u32 words[kRowsAWarp][4] = {};
    if (column < out) {
#pragma unroll
      for (int r = 0; r < kRowsAWarp; ++r) {
        const uint4 drawn = philox(source, ((group * 128 + warp * kRowsAWarp + r) * out + column) / 8, 0);
        words[r][0] = drawn.x, words[r][1] = drawn.y, words[r][2] = drawn.z, words[r][3] = drawn.w;
      }
      range_of_columns(words, memory, zero, warp, lane);
    }
    __syncthreads();
    if (threadIdx.x < kTileColumns && first + threadIdx.x < out) {
      const float2 mine = column_of(memory, threadIdx.x, zero < 128, scale, source.mean);
      memory.columns[threadIdx.x] = mine;
      scales[group * out + first + threadIdx.x] = bf16_of(mine.x);
      zeros[group * out + first + threadIdx.x] = bf16_of(mine.y);
    }
    __syncthreads();
    if (column < out)
      pack_rows(words, memory, (int)zero - warp * kRowsAWarp, lane, scale, source.mean,
                packed + (group * 64 + warp * kRowsAWarp / 2) * out + column, out);
  }
}

// Any number of columns, and any device: a thread a column of a group, one element a call.
__device__ inline float element(const Source& source, const float* table, float scale, u64 index) {
  const uint4 words = philox(source, index / 8, 0);
  const u32 at = (u32)(index % 8), low = at & 2 ? words.y : words.x, high = at & 2 ? words.w : words.z;
  const u32 word = at & 4 ? high : low;
  return value_of(table[at & 1 ? word >> 16 : word & 0xffff], scale, source.mean);
}

extern "C" __global__ void __launch_bounds__(256)
fill_int4_slowly(unsigned char* packed, u16* scales, u16* zeros, const float* table, u64 seed, u64 id, u64 scale_mean,
                 u64 spread, u64 outlier_marked, u64 in, u64 out, u64 groups) {
  const Source source = source_of(seed, id, scale_mean, spread, outlier_marked, in, in * out);
  const u64 item = blockIdx.x * 256ull + threadIdx.x, group = item / out, column = item % out;
  if (group >= groups) return;
  const float scale = scale_of(source, group / (in / 128));
  const u64 zero = zero_row(source, group);
  const auto value_in = [&](u64 row) { return row == zero ? 0 : element(source, table, scale, (group * 128 + row) * out + column); };
  float low = value_in(0), high = low;
  for (u64 row = 1; row < 128; ++row) {
    const float value = value_in(row);
    low = fminf(low, value);
    high = fmaxf(high, value);
  }
  const float2 mine = scale_and_zero(low, high);
  scales[item] = bf16_of(mine.x);
  zeros[item] = bf16_of(mine.y);
  for (u64 pair = 0; pair < 64; ++pair) {
    const u32 even = quantised(value_in(2 * pair), mine);
    const u32 odd = quantised(value_in(2 * pair + 1), mine);
    packed[(group * 64 + pair) * out + column] = (unsigned char)(even | odd << 4);
  }
}
