// One launch decodes one token through K K K M on 128 blocks of 16 consumer warps and one producer warp.
//
// Every weight is repacked by `prepare` into the order in which its block consumes it, so that the producer walks
// pointers: chunks of 16-19 KB go by bulk copy through a ring in shared memory, across phases and grid-wide exchanges.
//   block b = 4 head + quarter:   q k v g columns of the quarter | state columns of the quarter | 32 rows of W_o
//   MoE: block b takes hidden units of expert slot b / (blocks / topk), and inter / blocks units of the shared expert
// Two grid-wide all-reduces a layer (A after the attention projection, B after the mixture), by red.v4 into four replicas.
// Dot products are dp4a of unsigned nibbles with activations in two int8 levels (value = sx (x1 + x2 / 254)), folded
// with scale and zero once per group of 128 rows.
#include <onelaunch.cuh>

#define COPY 1
OL_TUNABLE(SLOTS, 8, 6, 8, 9, 10) // of the ring
OL_TUNABLE(CAP, 2, 2, 3, 4, 5, 10) // copies in flight
OL_TUNABLE(CAPR, 3, 3, 4, 6, 8)    // the same while no exchange is near: routed experts, and the start of the token
OL_TUNABLE(CAPX, 4, 1, 2, 4, 10)   // the same while the block is in an exchange
OL_TUNABLE(REPLICAS, 4, 1, 2, 4, 8)
OL_TUNABLE(PASS, 2, 2, 4, 6)       // tiles of 8 cache rows that attention takes at once
OL_TUNABLE(HEAD_SPLIT, 2, 1, 2)    // blocks that share cache rows: each takes half of the heads, over twice the rows
#define COUNTED 0
OL_TUNABLE(STATE_ASYNC, 1, 0, 1)   // 1: the state's slice waits in shared memory, not in registers
OL_TUNABLE(EARLY, 0, 0, 1)         // 1: the next layer's weights keep to CAPX until the exchange is over
#define WORD128 0
#define GUARD 0
#define PROFILE 0
// STAMPS start ready 0.proj 0.head 0.out 0.A 0.shared 0.gateup 0.down 0.B 1.proj 1.head 1.out 1.A 1.shared 1.gateup 1.down 1.B 2.proj 2.head 2.out 2.A 2.shared 2.gateup 2.down 2.B 3.proj 3.query 3.attend 3.splits 3.values 3.out 3.A 3.shared 3.gateup 3.down end
// STAMPS2 start ready 0.proj 0.head 0.st1 0.st2 0.quant 0.out 0.arrive 0.release 0.A 0.choose 0.shared 0.gateup 0.hidden 0.down 0.arrive 0.release 0.B 1.proj 1.head 1.st1 1.st2 1.quant 1.out 1.arrive 1.release 1.A 1.choose 1.shared 1.gateup 1.hidden 1.down 1.arrive 1.release 1.B 2.proj 2.head 2.st1 2.st2 2.quant 2.out 2.arrive 2.release 2.A 2.choose 2.shared 2.gateup 2.hidden 2.down 2.arrive 2.release 2.B 3.proj 3.nope 3.absorb 3.query 3.score 3.soft 3.attend 3.splits 3.combine 3.wv 3.values 3.quant 3.out 3.arrive 3.release 3.A 3.choose 3.shared 3.gateup 3.hidden 3.down end

namespace {

#define DEVICE __device__ __forceinline__

namespace dim = ol::dim;
using ol::bf16;
using u32 = unsigned;
using u64 = unsigned long long;

constexpr int kWarps = 16, kConsumers = kWarps * 32, kBlock = kConsumers + 32;
constexpr int kGroup = int(dim::group);
constexpr int kHidden = int(dim::hidden), kGroups = kHidden / kGroup, kOctets = kHidden / 8, kQuads = kHidden / 4;
constexpr int kLayers = int(dim::layers), kKdaLayers = int(dim::kda_layers);
constexpr int kHeads = int(dim::kda_heads), kBlocks = 4 * kHeads, kWidth = kHeads * 128;
constexpr int kLatent = int(dim::kv_lora), kRope = int(dim::rope), kKey = kLatent + kRope;
constexpr int kExperts = int(dim::experts), kTopK = int(dim::topk), kInter = int(dim::inter);
constexpr int kParts = kBlocks / kTopK;           // blocks an expert
constexpr int kUnits = kInter / kParts;           // hidden units a block of a routed expert
constexpr int kSharedUnits = kInter / kBlocks;
constexpr int kColumns = kHidden / kBlocks;       // columns of the residual whose router share a block adds
static_assert(int(dim::mla_heads) == kHeads && int(dim::kda_dim) == 128 && int(dim::nope) == 128 && int(dim::v_dim) == 128 &&
              kRope == 64 && int(dim::conv_width) == 4 && kGroup == 128, "");
static_assert(kGroups % 16 == 0 || kGroups % 16 == 2, "");
static_assert(kUnits % 32 == 0 && kSharedUnits % 8 == 0 && kColumns <= 32, "");

constexpr int max_of(int a, int b) { return a > b ? a : b; }
constexpr int power_of_two(int n) { int p = 1; while (p < n) p *= 2; return p; }

// ---- layout of a long matrix: `quads` x 4 columns of one block, all kHidden rows ----
// Word: 4 columns x 8 rows, one u32 a column, row 2i in the low nibble of byte i and row 2i+1 in the high one.
// Main rounds: 16 groups, a warp a group, `subs` lane groups share it; a chunk holds two words a lane.
// Remainder: two groups, two octets a warp. A chunk ends with the scales (4 bf16) and zeros (4 bytes) of its share.
constexpr int kRounds = kGroups / 16, kRest = kGroups % 16;
struct Long {
  int quads, subs;
  __host__ __device__ constexpr int main_words() const { return 2 * kWarps * subs * quads; }
  __host__ __device__ constexpr int main_scales() const { return 2 * subs * quads; }
  __host__ __device__ constexpr int main_bytes() const { return main_words() * 16 + main_scales() * 12; }
  __host__ __device__ constexpr int main_chunks() const { return kRounds * 8 / subs; }
  __host__ __device__ constexpr int rest_words() const { return 32 * quads; }
  __host__ __device__ constexpr int rest_bytes() const { return kRest ? rest_words() * 16 + 2 * quads * 12 : 0; }
  __host__ __device__ constexpr int bytes() const { return main_chunks() * main_bytes() + rest_bytes(); }
};
constexpr int subs_of(int quads) { return 32 / power_of_two(quads); }
constexpr int kSharedQuads = kSharedUnits / 2, kRoutedQuads = kUnits / 2;
constexpr int kKvQuadsTotal = kKey / 4, kKvQuads = (kKvQuadsTotal + kBlocks - 1) / kBlocks, kQQuads = 12 + kKvQuads;
static_assert(kKvQuadsTotal % kKvQuads == 0, "");
constexpr int kKvBlocks = kKvQuadsTotal / kKvQuads;       // blocks that project kv columns
constexpr Long kProject{32, 1}, kRouted{kRoutedQuads, subs_of(kRoutedQuads)}, kShared{kSharedQuads, subs_of(kSharedQuads)};
__host__ __device__ constexpr Long mla_long(int block) { return Long{block < kKvBlocks ? kQQuads : 12, subs_of(kQQuads)}; }
constexpr Long kMlaLong{kQQuads, subs_of(kQQuads)};

// ---- layout of a wide matrix: `octets` x 8 rows of one block, all kHidden columns ----
// Main: word [octet][quad < 512]; rest: word [quad - 512][octet]. Scales and zeros of a group of rows are shared by blocks.
constexpr int kMainQuads = kQuads / 512 * 512, kRestQuads = kQuads - kMainQuads;
constexpr int kWideScales = kQuads * 12;
static_assert(kMainQuads <= 512 && kRestQuads * 8 <= kConsumers, "");
constexpr int wide_main(int octets) { return octets * kMainQuads * 16; }
constexpr int wide_rest(int octets) { return octets * kRestQuads * 16; }
constexpr int wide_bytes(int octets) { return wide_main(octets) + wide_rest(octets); }
constexpr int kUnitOctets = kUnits / 8, kSharedOctets = kSharedUnits / 8;

// ---- MLA ----
constexpr int kLatents = kLatent / 4;                     // of a block's slice of a head
constexpr int kAbsorbBytes = kLatents * 64 + 384, kValueBytes = kLatents * 64 + 384;
constexpr int kRowBytes = kKey * 2 + 16, kTileRows = 8, kSlotRows = 16;   // a cache row in the ring, padded against bank conflicts
constexpr int kHalfSteps = (kLatents + 16) / 16;          // mma k8 steps of one of the 8 slices of the key
constexpr int kQueryWords = kHalfSteps / 3;
constexpr int kHeadTiles = (kHeads + 15) / 16, kSharing = kHeadTiles < HEAD_SPLIT ? kHeadTiles : HEAD_SPLIT;
constexpr int kTilesHere = kHeadTiles / kSharing, kSplits = kBlocks / kSharing;  // 16-head tiles of a block; shares of the rows
constexpr int kRowGroups = 2 / kTilesHere;                // of warps: each scores every other tile of rows
constexpr int kPassRows = PASS * kTileRows, kPassSteps = (PASS + 1) / 2, kWeightStride = kPassSteps * 16 + 8;
constexpr int kLatentSlices = 16 / kTilesHere < kLatent / 16 ? 16 / kTilesHere : kLatent / 16;
constexpr int kSliceTiles = kLatent / kLatentSlices / 8;  // n-tiles of a slice of the latent
constexpr int kChunkTiles = kSliceTiles < 4 ? kSliceTiles : 4, kChunks = kSliceTiles / kChunkTiles;
static_assert(kHalfSteps % 3 == 0 && kHeadTiles <= 2 && (kSliceTiles == 8 || kSliceTiles == 4 || kSliceTiles == 2) && kPassRows <= 64, "");
static_assert(kKey * 2 % 16 == 0, "");

// ---- the prepared arena ----
constexpr u64 kKdaBlock = kProject.bytes() + wide_bytes(4);
constexpr u64 kMlaBlock = kMlaLong.bytes() + kAbsorbBytes + kValueBytes + wide_bytes(4);
constexpr u64 kSharedBlock = kShared.bytes() + wide_bytes(kSharedOctets);
constexpr u64 kExpertBlock = kRouted.bytes() + wide_bytes(kUnitOctets);
constexpr u64 kOutScales = u64(kWidth / kGroup) * kWideScales, kDownScales = u64(kInter / kGroup) * kWideScales;
constexpr u64 kAtMla = kKdaLayers * kBlocks * kKdaBlock;
constexpr u64 kAtShared = kAtMla + kBlocks * kMlaBlock;
constexpr u64 kAtOutScales = kAtShared + kLayers * kBlocks * kSharedBlock;
constexpr u64 kAtSharedScales = kAtOutScales + kLayers * kOutScales;
constexpr u64 kAtRouter = kAtSharedScales + kLayers * kDownScales;
constexpr u64 kAtExpertScales = kAtRouter + u64(kLayers) * kBlocks * kExperts * 128;
constexpr u64 kAtExperts = kAtExpertScales + u64(kLayers) * kExperts * kDownScales;
constexpr u64 kPreparedBytes = kAtExperts + u64(kLayers) * kExperts * kParts * kExpertBlock;
static_assert(kKdaBlock % 16 == 0 && kMlaBlock % 16 == 0 && kSharedBlock % 16 == 0 && kExpertBlock % 16 == 0, "");

// ---- sync: counters, accumulators, flagged words ----
constexpr int kSumWords = (kHidden + 11) / 12 * 4, kAllWords = kSumWords + (kExperts + 2) / 3;  // counted: three sums a word
constexpr int whole_warps(int words) { return (words + 31) / 32 * 32; }
constexpr int kLogits = COUNTED ? kSumWords * 3 : kHidden;                              // where logits begin
constexpr int kReplica = COUNTED ? whole_warps(kAllWords) * 4 : kHidden + 64;  // floats: sums of the residual, then router logits
static_assert(kAllWords <= 2 * kConsumers, "");
constexpr int kSyncCounter = 0, kSyncSplits = 128, kSyncSums = 256;
constexpr int kSyncHead = kSyncSums + 4 * REPLICAS * kReplica * 4;        // u64 [block][q k decay][32]
constexpr int kSyncNope = kSyncHead + kBlocks * 96 * 8;                   // u64 [block][32]
constexpr int kSyncRow = kSyncNope + kBlocks * 32 * 8;                    // u64 [kKey]
constexpr int kSyncValue = kSyncRow + kKey * 8;                           // u64 [block][128]
constexpr int kSyncQuery = kSyncValue + kBlocks * 128 * 8;                // 16 B [block][2][kQueryWords][4]
constexpr int kSyncBytes = kSyncQuery + kBlocks * 2 * kQueryWords * 4 * 16;
static_assert(kSyncQuery % 16 == 0 && kSyncBytes <= 1 << 20, "");

// ---- scratch: partial attention ----
constexpr u64 kScratchSums = 0;                                           // float2 {max, sum} [head][split]
constexpr u64 kScratchLatent = kScratchSums + u64(kHeads) * kSplits * 8;  // bf16 [head][split][kLatent]
constexpr u64 kScratchStamps = kScratchLatent + u64(kHeads) * kSplits * kLatent * 2;
constexpr int kStamps = 128;
constexpr u64 kScratchBytes = kScratchStamps + (PROFILE ? u64(kBlocks) * kStamps * 8 : 0);

// ---- shared memory ----
constexpr int kSlotBytes = (max_of(max_of(max_of(kProject.main_bytes(), kProject.rest_bytes()), kShared.main_bytes() * kRounds + kShared.rest_bytes()),
                                   max_of(wide_bytes(kSharedOctets) + kWideScales, wide_rest(kUnitOctets) + kWideScales)) + 127) / 128 * 128;
static_assert(PASS % 2 == 0 && kSlotRows * kRowBytes <= kSlotBytes && kAbsorbBytes <= kSlotBytes && kRouted.main_bytes() <= kSlotBytes &&
              kMlaLong.main_bytes() <= kSlotBytes && kMlaLong.rest_bytes() <= kSlotBytes && 2 * kMainQuads * 16 <= kSlotBytes, "");

struct Dense {                        // everything but attention over the cache
  uint4 x[kOctets];                   // quantised activations: {level 1 even, level 1 odd, level 2 even, level 2 odd} rows
  float part[kWarps * 128];
  float state[kWarps * 65];
  float head[3 * 128];                // q, k, decay of the head
#if COUNTED
  float received[whole_warps(kAllWords) * 3];
#endif
  DEVICE float* partial() { return part; }  // kAllWords * 3 of them, over part and state
};
static_assert(!COUNTED || kAllWords * 3 <= kWarps * (128 + 65), "");
struct Attention {
  float score[8 * kTilesHere * 16 * kPassRows];
  u32 query[3][kTilesHere * 16 * 8 * kQueryWords * 4];  // [slice][word][head][lane % 4]
};
struct Shared {
  union { Dense d; Attention a; };
  uint4 stream[kOctets];              // the residual, bf16: thread t's 8 columns, the same in every block
  float2 group[kGroups];              // {sx / 16, sum} of a group of activations
  uint4 warp_x[kWarps * 4];           // 32 quantised rows of W_o, a copy a warp
  uint4 hidden[16];                   // quantised hidden units, or nope values, or latents
  float2 piece[4];                    // {sx / 16, sum} of 32 of them
  float zero_sum[4];
  float2 reduce[kWarps];              // {sum of squares, beta logit}
  float vector[64];
  float value[128];
  float logit[64], top[kTopK], columns[32];
#if STATE_ASYNC
  alignas(16) float rows[128 * 32];   // the block's slice of a head's state
#endif
  bf16 query[kLatents + 16];
  alignas(16) bf16 probability[kTilesHere * 16 * kWeightStride];
  float shrink[kTilesHere * 16];
  u64 full[SLOTS], empty[SLOTS], go;
  volatile int expert, exchanging, exchanged;
};

}  // namespace

OL_LAUNCH(.block = kBlock, .grid = kBlocks, .dynamic_smem = SLOTS * kSlotBytes + sizeof(Shared), .cluster = 1,
          .sync_bytes = kSyncBytes, .scratch_bytes = kScratchBytes, .prepared_bytes = kPreparedBytes)
OL_PREPARE(prepare_dense, .grid = kBlocks * kLayers, .block = 256)
OL_PREPARE(prepare_experts, .grid = kLayers * kExperts * kParts, .block = 256)
OL_PREPARE(prepare_scales, .grid = kLayers * (kExperts + 2), .block = 256)
OL_PREPARE(prepare_router, .grid = kBlocks * kLayers, .block = 256)

namespace {

DEVICE float round_bf16(float v) { return __bfloat162float(__float2bfloat16_rn(v)); }
DEVICE float low(u32 pair) { return __uint_as_float(pair << 16); }
DEVICE float half_low(u32 pair) { return __half2float(__ushort_as_half(static_cast<unsigned short>(pair))); }
DEVICE float half_high(u32 pair) { return half_low(pair >> 16); }
DEVICE float high(u32 pair) { return __uint_as_float(pair & 0xffff0000u); }
DEVICE u32 pack(float a, float b) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(a, b);
  return *reinterpret_cast<const u32*>(&pair);
}
DEVICE float sigmoid(float v) { return 1.0f / (1.0f + __expf(-v)); }
DEVICE float exp2_fast(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
// Read anew each time: otherwise the compiler keeps dozens of addresses in registers over the whole token.
DEVICE int thread_id() {
  int t;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(t));
  return t;
}
DEVICE int lane_id() { return thread_id() & 31; }
DEVICE int warp_id() { return thread_id() >> 5; }
DEVICE float warp_sum(float v) {
#pragma unroll
  for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
  return v;
}
DEVICE float warp_max(float v) {
#pragma unroll
  for (int m = 16; m; m >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, m));
  return v;
}
DEVICE float warp_most(float v) {  // warp_max by one instruction: floats in the order of integers
  const u32 bits = __float_as_uint(v), key = bits ^ (u32(int(bits) >> 31) | 0x80000000u), most = __reduce_max_sync(~0u, key);
  return __uint_as_float(most & 0x80000000u ? most ^ 0x80000000u : ~most);
}
DEVICE void consumers_meet() { asm volatile("bar.sync 1, %0;" ::"n"(kConsumers) : "memory"); }

struct Spins {
  u32 left = 1u << 22;
  DEVICE void again() {
    if (GUARD && --left == 0) __trap();
  }
};

// ---- memory that blocks share ----
DEVICE u32 load_acquire(const void* p) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
DEVICE void add_release(void* p) { asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory"); }
DEVICE void add4(float* p, float a, float b, float c, float d) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
}
// 8 bytes {value, tag}: the flag travels inside the word. Whole warps wait together, so that they stay together.
DEVICE void send8(void* p, u32 value, u32 tag) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(u64(tag) << 32 | value) : "memory");
}
DEVICE u32 receive8(const void* p, u32 tag) {
  u64 v;
  Spins spins;
  while (true) {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    if (__all_sync(~0u, u32(v >> 32) == tag)) return u32(v);
    spins.again();
  }
}
#if WORD128
DEVICE void send16(void* p, u32 a, u32 b, u32 c, u32 tag) {
  asm volatile("{.reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.gpu.global.b128 [%0], q;}" ::"l"(p), "l"(u64(b) << 32 | a), "l"(u64(tag) << 32 | c) : "memory");
}
DEVICE uint4 poll16(const void* p) {
  u64 a, b;
  asm volatile("{.reg .b128 q; ld.relaxed.gpu.global.b128 q, [%2]; mov.b128 {%0, %1}, q;}" : "=l"(a), "=l"(b) : "l"(p) : "memory");
  return make_uint4(u32(a), u32(a >> 32), u32(b), u32(b >> 32));
}
#else
DEVICE void send16(void* p, u32 a, u32 b, u32 c, u32 tag) {
  asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(u64(b) << 32 | a), "l"(u64(tag) << 32 | c) : "memory");
}
DEVICE uint4 poll16(const void* p) {
  u64 a, b;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p) : "memory");
  return make_uint4(u32(a), u32(a >> 32), u32(b), u32(b >> 32));
}
#endif
DEVICE uint4 load_early(const void* p) {  // not to be moved behind a wait
  uint4 v;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
DEVICE float load_early_float(const float* p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
DEVICE void wait_counter(const void* p, u32 target) {
  Spins spins;
  while (int(load_acquire(p) - target) < 0) spins.again();
}

// ---- the ring ----
DEVICE u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }

#if COPY
DEVICE void barrier_init(u32 b, u32 count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(count) : "memory"); }
DEVICE void barrier_arrive(u32 b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory"); }
DEVICE void barrier_expect(u32 b, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
DEVICE bool barrier_try(u32 b, u32 parity) {
  u32 done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b), "r"(parity) : "memory");
  return done;
}
DEVICE void wait_round(u32 b, u32 round, u32) {  // until the barrier's phase `round` is complete
  Spins spins;
  while (!barrier_try(b, round & 1)) spins.again();
}
DEVICE void bulk_copy(u32 to, const void* from, u32 bytes, u32 b, u64 policy) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), "l"(from), "r"(bytes), "r"(b), "l"(policy) : "memory");
}
#else
DEVICE void barrier_init(u32 b, u32) { asm volatile("st.shared.u64 [%0], %1;" ::"r"(b), "l"(0ull) : "memory"); }
DEVICE void barrier_arrive(u32 b) { asm volatile("red.release.cta.shared.add.u64 [%0], 1;" ::"r"(b) : "memory"); }
DEVICE void wait_round(u32 b, u32 round, u32 arrivals) {
  u64 v;
  Spins spins;
  while (true) {
    asm volatile("ld.acquire.cta.shared.u64 %0, [%1];" : "=l"(v) : "r"(b) : "memory");
    if (v >= u64(round + 1) * arrivals) break;
    spins.again();
  }
}
#endif

// Shared memory by 32-bit address: the inner loops have no register and no instruction to spare.
DEVICE uint4 lds16(u32 at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
  return v;
}
DEVICE uint2 lds8(u32 at) {
  uint2 v;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(at) : "memory");
  return v;
}
DEVICE u32 lds4(u32 at) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  return v;
}

struct Consumer {
  u32 ring, barriers;               // shared addresses of slot 0 and of full[0]; empty[] follows full[]
  bool leader;                      // of the warp
  int slot = 0, held = 0;           // the next to wait for, the next to give back
  u32 round = 0;
#if PROFILE
  u32 waited = 0;                   // cycles
#endif
  DEVICE u32 at(int which) const { return ring + which * kSlotBytes; }
  DEVICE u32 wait() {
#if PROFILE
    const long long start = clock64();
#endif
    wait_round(barriers + slot * 8, round, 1);
#if PROFILE
    waited += u32(clock64() - start);
#endif
    return at(slot);
  }
  DEVICE void skip() {  // to the next slot without giving this one back
    if (++slot == SLOTS) slot = 0, ++round;
  }
  DEVICE void give_back(int which) {
    __syncwarp();
    if (leader) barrier_arrive(barriers + (SLOTS + which) * 8);
  }
  DEVICE void give_back_oldest() {
    give_back(held);
    if (++held == SLOTS) held = 0;
  }
  DEVICE void release() {
    skip();
    give_back_oldest();
  }
};

struct Producer {
  unsigned char* ring;
  Shared* s;
  u32 base, barriers;
  u64 stream_policy, normal_policy;
  int slot = 0, oldest = 0, flying = 0;
  u32 round = 0, oldest_round = 0;

  int cap = CAPR;
  int needs = 0;                    // exchanges that must be over before more than CAPX copies fly
  DEVICE void acquire() {
    while (flying >= (s->exchanging || (EARLY && s->exchanged < needs) ? CAPX : cap)) {
      wait_round(barriers + oldest * 8, oldest_round, 1);
      if (++oldest == SLOTS) oldest = 0, ++oldest_round;
      --flying;
    }
    ++flying;
    if (round) wait_round(barriers + (SLOTS + slot) * 8, round - 1, kWarps);
  }
  DEVICE void next() {
    if (++slot == SLOTS) slot = 0, ++round;
  }
#if !COPY
  DEVICE static void plain_copy(unsigned char* to, const unsigned char* from, int bytes) {
    for (int i = lane_id() * 16; i < bytes; i += 4 * 512) {
      uint4 v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (i + u * 512 < bytes) v[u] = *reinterpret_cast<const uint4*>(from + i + u * 512);
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (i + u * 512 < bytes) *reinterpret_cast<uint4*>(to + i + u * 512) = v[u];
    }
  }
#endif
  // One slot: `bytes` of the block's own stream, then `more` bytes that other blocks read too.
  DEVICE void fetch(const unsigned char* from, int bytes, const unsigned char* shared = nullptr, int more = 0) {
    acquire();
#if COPY
    if (lane_id() == 0) {
      barrier_expect(barriers + slot * 8, u32(bytes + more));
      if (bytes) bulk_copy(base + slot * kSlotBytes, from, u32(bytes), barriers + slot * 8, stream_policy);
      if (more) bulk_copy(base + slot * kSlotBytes + bytes, shared, u32(more), barriers + slot * 8, normal_policy);
    }
#else
    unsigned char* to = ring + slot * kSlotBytes;
    plain_copy(to, from, bytes);
    plain_copy(to + bytes, shared, more);
    __syncwarp();
    if (lane_id() == 0) barrier_arrive(barriers + slot * 8);
#endif
    next();
  }
  DEVICE void fetch_rows(const bf16* latent, const bf16* rope, int rows) {
    acquire();
#if COPY
    if (lane_id() == 0) barrier_expect(barriers + slot * 8, u32(rows * kKey * 2));
    __syncwarp();
    const int row = lane_id() & 15;  // a lane a copy
    if (row < rows && lane_id() < 16) bulk_copy(base + slot * kSlotBytes + row * kRowBytes, latent + row * kLatent, kLatent * 2, barriers + slot * 8, stream_policy);
    if (row < rows && lane_id() >= 16)
      bulk_copy(base + slot * kSlotBytes + row * kRowBytes + kLatent * 2, rope + row * kRope, kRope * 2, barriers + slot * 8, stream_policy);
#else
    unsigned char* to = ring + slot * kSlotBytes;
    for (int row = 0; row < rows; ++row) {
      plain_copy(to + row * kRowBytes, reinterpret_cast<const unsigned char*>(latent + row * kLatent), kLatent * 2);
      plain_copy(to + row * kRowBytes + kLatent * 2, reinterpret_cast<const unsigned char*>(rope + row * kRope), kRope * 2);
    }
    __syncwarp();
    if (lane_id() == 0) barrier_arrive(barriers + slot * 8);
#endif
    next();
  }
};

// ---- rows of the cache that a block attends to ----
struct Rows {
  long long first;
  int count;
  bool owns_new;
  DEVICE Rows(long long total) {
    const long long each = total / kSplits;
    const int extra = int(total % kSplits), b = int(blockIdx.x) / kSharing;
    first = b * each + (b < extra ? b : extra);
    count = int(each) + (b < extra);
    owns_new = count > 0 && first + count == total;
  }
};

template <class Visit>
DEVICE void each_chunk(const Long m, const unsigned char* from, Visit fetch) {
  for (int c = 0; c < m.main_chunks(); ++c) fetch(from + c * m.main_bytes(), m.main_bytes());
  if (kRest) fetch(from + m.main_chunks() * m.main_bytes(), m.rest_bytes());
}

// `octets` x 8 rows of a wide matrix in chunks of two octets; the rest and the scales come last.
DEVICE void fetch_wide(Producer& p, const unsigned char* from, int octets, const unsigned char* scales) {
  if (kMainQuads)
    for (int o = 0; o < octets; o += 2) p.fetch(from + o * kMainQuads * 16, 2 * kMainQuads * 16);
  p.fetch(from + wide_main(octets), wide_rest(octets), scales, kWideScales);
}

DEVICE void produce(const ol::Args& args, unsigned char* ring, Shared& s) {
  const int b = int(blockIdx.x), head = b >> 2;
  Producer p{ring, &s, shared_address(ring), shared_address(s.full)};
#if COPY
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p.stream_policy));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(p.normal_policy));
#endif
  const unsigned char* prepared = args.prepared;
  const auto stream = [&](const unsigned char* from, int bytes) { p.fetch(from, bytes); };
  for (int layer = 0; layer != kLayers; ++layer) {
    const unsigned char* out;
    p.needs = 2 * layer;
    if (layer) p.cap = CAP;
    if (layer < kKdaLayers) {
      const unsigned char* from = prepared + u64(layer * kBlocks + b) * kKdaBlock;
      each_chunk(kProject, from, stream);
      out = from + kProject.bytes();
    } else {
      const unsigned char* from = prepared + kAtMla + u64(b) * kMlaBlock;
      each_chunk(mla_long(b), from, stream);
      p.fetch(from + kMlaLong.bytes(), kAbsorbBytes);
      const Rows rows(args.position + 1);
      const auto& mla = args.mla[0];
      for (int r = 0; r < rows.count; r += kSlotRows) {
        const int ready = min(kSlotRows, rows.count - r) - int(rows.owns_new && r + kSlotRows >= rows.count);
        p.fetch_rows(mla.c_kv + (rows.first + r) * kLatent, mla.k_rope + (rows.first + r) * kRope, ready);
      }
      p.fetch(from + kMlaLong.bytes() + kAbsorbBytes, kValueBytes);
      out = from + kMlaLong.bytes() + kAbsorbBytes + kValueBytes;
    }
    p.cap = CAP;
    fetch_wide(p, out, 4, prepared + kAtOutScales + layer * kOutScales + head * kWideScales);
    const unsigned char* shared = prepared + kAtShared + u64(layer * kBlocks + b) * kSharedBlock;
    p.fetch(shared, kShared.bytes());
    p.fetch(shared + kShared.bytes(), wide_bytes(kSharedOctets),
            prepared + kAtSharedScales + layer * kDownScales + b * kSharedUnits / kGroup * kWideScales, kWideScales);
    wait_round(shared_address(&s.go), u32(layer), 1);
    p.cap = CAPR;
    const int part = b % kParts;
    const u64 expert = u64(layer) * kExperts + u64(s.expert);
    const unsigned char* routed = prepared + kAtExperts + (expert * kParts + part) * kExpertBlock;
    each_chunk(kRouted, routed, stream);
    fetch_wide(p, routed + kRouted.bytes(), kUnitOctets,
               prepared + kAtExpertScales + expert * kDownScales + part * kUnits / kGroup * kWideScales);
  }
}

// ---- int8 activations in two levels ----
constexpr float kMagic = 12582912.0f;              // 1.5 * 2^23: adding it puts an integer into the low bits
constexpr int kMagicBits = 0x4B400000;
constexpr float kSecond = 1.0f / 254.0f;

struct Levels {                                    // value = sx (first + second / 254)
  float first, second;                             // raised by kMagic
  DEVICE Levels(float value, float inverse) {
    first = fmaf(value, inverse, kMagic);
    second = fmaf(fmaf(value, inverse, -(first - kMagic)), 254.0f, kMagic);
  }
  DEVICE int integer() const { return (__float_as_int(first) - kMagicBits) * 254 + __float_as_int(second) - kMagicBits; }
};
DEVICE u32 bytes_of(float a, float b, float c, float d) {
  const u32 ab = __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x0040), cd = __byte_perm(__float_as_uint(c), __float_as_uint(d), 0x0040);
  return __byte_perm(ab, cd, 0x5410);
}

// Quantises 32 values, a lane each, into four octets; returns {sx / 16, sum}.
DEVICE float2 quantise32(float value, uint4* octets) {
  const float top = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(fabsf(value)))), inverse = top > 0 ? __fdividef(127.0f, top) : 0.0f, unit = top * (1.0f / 127.0f);
  const Levels q(value, inverse);
  const int lane = lane_id(), i = lane & 7;
  unsigned char* at = reinterpret_cast<unsigned char*>(octets + lane / 8) + (i & 1) * 4 + i / 2;
  at[0] = static_cast<unsigned char>(__float_as_uint(q.first));
  at[8] = static_cast<unsigned char>(__float_as_uint(q.second));
  __syncwarp();
  const int sum = __reduce_add_sync(~0u, q.integer());
  return {unit * (1.0f / 16.0f), unit * kSecond * float(sum)};
}

// ---- dot products of four columns ----
struct Dots {
  int low1[4], high1[4], low2[4], high2[4];
  DEVICE void clear() {
#pragma unroll
    for (int c = 0; c < 4; ++c) low1[c] = low2[c] = 0, high1[c] = high2[c] = kMagicBits;
  }
  DEVICE static void dp4a(int& sum, u32 weights, u32 x) { asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(x)); }
  DEVICE void add(uint4 word, uint4 x) {
    const u32 w[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const u32 even = w[c] & 0x0f0f0f0fu, odd = w[c] & 0xf0f0f0f0u;
      dp4a(low1[c], even, x.x);
      dp4a(high1[c], odd, x.y);
      dp4a(low2[c], even, x.z);
      dp4a(high2[c], odd, x.w);
    }
  }
  // 16 times the dot product with first + second / 254
  DEVICE float value(int c) const {
    const float first = __int_as_float(low1[c] * 16 + high1[c]) - kMagic, second = __int_as_float(low2[c] * 16 + high2[c]) - kMagic;
    return fmaf(second, kSecond, first);
  }
};
struct Words {                                     // of one lane in one chunk, with their activations
  uint4 w0, x0, w1, x1;
  DEVICE void load(u32 w, u32 x, u32 w_step, u32 x_step) {
    w0 = lds16(w);
    x0 = lds16(x);
    w1 = lds16(w + w_step);
    x1 = lds16(x + x_step);
  }
  DEVICE void multiply(Dots& d) const {
    d.add(w0, x0);
    d.add(w1, x1);
  }
};
DEVICE float scale_of(uint2 scales, int c) { return c == 0 ? low(scales.x) : c == 1 ? high(scales.x) : c == 2 ? low(scales.y) : high(scales.y); }
DEVICE float zero_of(u32 zeros, int c) { return __uint_as_float(__byte_perm(zeros, 0x4B000000u, 0x7650 + c)) - 8388608.0f; }

// out += scale (sx dot - zero sum)
DEVICE void fold(float (&out)[4], const Dots& d, uint2 scales, u32 zeros, float unit, float sum) {
#pragma unroll
  for (int c = 0; c < 4; ++c) out[c] = fmaf(scale_of(scales, c), fmaf(unit, d.value(c), -zero_of(zeros, c) * sum), out[c]);
}
DEVICE uint4 word_at(u32 p, int index) { return lds16(p + u32(index) * 16); }

// part[warp][column] of the block's columns of a long matrix. `kOneChunk`: main and rest share one chunk.
template <int kLanes, bool kOneChunk, bool kAhead = true>
DEVICE void multiply_long(Consumer& ring, Shared& s, const Long m) {
  constexpr int kSubs = 32 / kLanes;
  const int warp = warp_id(), lane = lane_id(), sub = lane / kLanes, quad = lane % kLanes;
  const bool active = quad < m.quads;
  float out[4] = {};
  Dots d;
  u32 chunk = 0;
  const u32 x = shared_address(s.d.x);
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    d.clear();
    uint2 scales = {};
    u32 zeros = 0;
    const u32 mine = ((warp * kSubs + sub) * m.quads + quad) * 16, step_bytes = kWarps * kSubs * m.quads * 16;
    const u32 share = m.main_words() * 16 + (warp % (2 * kSubs) * m.quads + quad) * 8, share_zeros = m.main_words() * 16 + m.main_scales() * 8 + (warp % (2 * kSubs) * m.quads + quad) * 4;
    u32 my_x = x + (round * 256 + warp * 16 + sub) * 16;
    // A chunk's words are in registers before the chunk before it is multiplied.
    constexpr int kChunksHere = 8 / kSubs;
    Words a, b;
    const auto load = [&](Words& into, int c) {
      chunk = ring.wait();
      if (active) {
        into.load(chunk + mine, my_x, step_bytes, kSubs * 16);
        if (warp / (2 * kSubs) == c) scales = lds8(chunk + share), zeros = lds4(chunk + share_zeros);
      }
      my_x += 2 * kSubs * 16;
      ring.skip();
    };
    const auto multiply = [&](const Words& words, bool last) {
      if (active) words.multiply(d);
      if (!(kOneChunk && kRest && last)) ring.give_back_oldest();
    };
    load(a, 0);
    if constexpr (kChunksHere == 1) {
      multiply(a, true);
    } else if constexpr (!kAhead) {  // registers are short
      multiply(a, false);
#pragma unroll 1
      for (int c = 1; c < kChunksHere; ++c) {
        load(a, c);
        multiply(a, false);
      }
    } else {
#pragma unroll 1
      for (int c = 0; c < kChunksHere - 2; c += 2) {
        load(b, c + 1);
        multiply(a, false);
        load(a, c + 2);
        multiply(b, false);
      }
      load(b, kChunksHere - 1);
      multiply(a, false);
      multiply(b, true);
    }
    const float2 group = s.group[round * 16 + warp];
    fold(out, d, scales, zeros, group.x, sub == 0 ? group.y : 0.0f);
  }
  if (kRest) {
    chunk = kOneChunk && kRounds ? chunk + m.main_bytes() : ring.wait();
    d.clear();
    uint2 scales = {};
    u32 zeros = 0;
    if (active && sub < 2) {
#pragma unroll
      for (int step = 0; step < (kSubs == 1 ? 2 : 1); ++step) {
        const int octet = 2 * warp + (kSubs == 1 ? step : sub);
        d.add(word_at(chunk, octet * m.quads + quad), word_at(x, kRounds * 256 + octet));
      }
      const u32 at = chunk + m.rest_words() * 16, index = warp / 8 * m.quads + quad;
      scales = lds8(at + index * 8);
      zeros = lds4(at + 2 * m.quads * 8 + index * 4);
    }
    if (!(kOneChunk && kRounds)) ring.skip();
    ring.give_back_oldest();
    const float2 group = s.group[kRounds * 16 + warp / 8];
    fold(out, d, scales, zeros, group.x, warp % 8 == 0 && sub == 0 ? group.y : 0.0f);
  }
#pragma unroll
  for (int step = kLanes; step < 32; step *= 2)
#pragma unroll
    for (int c = 0; c < 4; ++c) out[c] += __shfl_xor_sync(~0u, out[c], step);
  if (lane < m.quads) *reinterpret_cast<float4*>(s.d.part + warp * 128 + quad * 4) = make_float4(out[0], out[1], out[2], out[3]);
}
DEVICE float column_sum(const Shared& s, int column, int parts = kWarps) {
  float sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w)
    if (w < parts) sum += s.d.part[w * 128 + column];
  return sum;
}

// main[4]: sums of quad threadIdx.x; rest[4]: of quad 512 + t / octets, in the threads t with t % octets == 0.
template <int kOctetsHere, bool kOneChunk>
DEVICE void multiply_wide(Consumer& ring, const uint4* activations, const float2* piece, float (&main)[4], float (&rest)[4]) {
  const int t = thread_id();
  const u32 x = shared_address(activations);
  constexpr int kPieces = (kOctetsHere + 3) / 4;
  float dot[4] = {}, sum = 0;
  Dots d;
  d.clear();
#pragma unroll
  for (int p = 0; p < kPieces; ++p) sum += piece[p].y;
  u32 chunk = 0;
  if constexpr (kMainQuads && kOneChunk) {
    static_assert(kOctetsHere == 1, "");
    chunk = ring.wait();
    d.add(word_at(chunk, t), word_at(x, 0));
#pragma unroll
    for (int i = 0; i < 4; ++i) dot[i] = piece[0].x * d.value(i);
  } else if constexpr (kMainQuads) {
    static_assert(kOctetsHere % 4 == 0, "");
    Words words[2];
    const auto load = [&](int c) {
      words[c & 1].load(ring.wait() + t * 16, x + c * 32, kMainQuads * 16, 16);
      ring.skip();
    };
    load(0);
#pragma unroll
    for (int c = 0; c < kOctetsHere / 2; ++c) {
      if (c + 1 < kOctetsHere / 2) load(c + 1);
      words[c & 1].multiply(d);
      ring.give_back_oldest();
      if (c % 2 == 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i) dot[i] = fmaf(piece[c / 2].x, d.value(i), dot[i]);
        d.clear();
      }
    }
  }
  chunk = kOneChunk && kMainQuads ? chunk + wide_main(kOctetsHere) : ring.wait();
  const u32 scales = chunk + wide_rest(kOctetsHere);
  const auto scale_at = [&](int quad) { return lds8(scales + quad * 8); };
  const auto zero_at = [&](int quad) { return lds4(scales + kQuads * 8 + quad * 4); };
  if (kMainQuads) {
    const uint2 sc = scale_at(t);
    const u32 ze = zero_at(t);
#pragma unroll
    for (int i = 0; i < 4; ++i) main[i] = fmaf(scale_of(sc, i), dot[i] - zero_of(ze, i) * sum, main[i]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) rest[i] = 0;
  if (t < kRestQuads * kOctetsHere) {
    const int octet = t % kOctetsHere, quad = kMainQuads + t / kOctetsHere;
    d.clear();
    d.add(word_at(chunk, t), word_at(x, octet));
    float unit = piece[0].x;
#pragma unroll
    for (int p = 1; p < kPieces; ++p) unit = octet / 4 == p ? piece[p].x : unit;
    fold(rest, d, scale_at(quad), zero_at(quad), unit, octet == 0 ? sum : 0.0f);
  }
  ring.release();
#pragma unroll
  for (int step = 1; step < kOctetsHere; step *= 2)
#pragma unroll
    for (int i = 0; i < 4; ++i) rest[i] += __shfl_xor_sync(~0u, rest[i], step);
}

struct Context {
  const ol::Args& args;
  Shared& s;
  Consumer ring;
  float inverse_rms, beta_logit;
  int exchanges, head, quarter;
  u64* stamps;
  int stamp_count;
  DEVICE float* sums(int exchange) const {
    return reinterpret_cast<float*>(args.sync + kSyncSums) + (exchange & 3) * REPLICAS * kReplica;
  }
  DEVICE float* my_sums() const { return sums(exchanges) + int(blockIdx.x) % REPLICAS * kReplica; }
  DEVICE u32 tag(int use) const { return u32(args.epoch) * 4 + u32(use) + 1; }
  DEVICE void stamp() {              // time in ns, and above bit 44 the cycles spent waiting for the ring since the last stamp
#if PROFILE
    if (thread_id() == 0) {
      u64 now;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
      if (stamp_count < kStamps) stamps[stamp_count] = (now & ((1ull << 44) - 1)) | u64(ring.waited) << 44;
      ++stamp_count;
      ring.waited = 0;
    }
#endif
  }
  DEVICE void fine() {
    if (PROFILE == 2) stamp();
  }
};

// Quantises the normalised residual, without its 1/rms, and sums its squares and its product with beta.
DEVICE void publish_stream(Context& c, const float (&x)[8], uint4 norm, uint4 beta) {
  Shared& s = c.s;
  const int t = thread_id();
  if (t < kOctets) {
    float squares = 0, product = 0, top = 0, v[8];
    const u32 weight[4] = {norm.x, norm.y, norm.z, norm.w}, row[4] = {beta.x, beta.y, beta.z, beta.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      squares = fmaf(x[i], x[i], squares);
      v[i] = x[i] * (i & 1 ? high(weight[i / 2]) : low(weight[i / 2]));
      product = fmaf(v[i], i & 1 ? high(row[i / 2]) : low(row[i / 2]), product);
      top = fmaxf(top, fabsf(v[i]));
    }
    top = __uint_as_float(__reduce_max_sync(~0u, __float_as_uint(top)));  // of two groups: a warp's
    const float inverse = top > 0 ? __fdividef(127.0f, top) : 0.0f, unit = top * (1.0f / 127.0f);
    float first[8], second[8];
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const Levels q(v[i], inverse);
      first[i] = q.first;
      second[i] = q.second;
      sum += q.integer();
    }
    s.d.x[t] = make_uint4(bytes_of(first[0], first[2], first[4], first[6]), bytes_of(first[1], first[3], first[5], first[7]),
                          bytes_of(second[0], second[2], second[4], second[6]), bytes_of(second[1], second[3], second[5], second[7]));
    const int lower = __reduce_add_sync(~0u, t & 16 ? 0 : sum), upper = __reduce_add_sync(~0u, t & 16 ? sum : 0);
    if (t % 16 == 0) s.group[t / 16] = {unit * (1.0f / 16.0f), unit * kSecond * float(t & 16 ? upper : lower)};
    squares = warp_sum(squares);
    product = warp_sum(product);
    if (lane_id() == 0) s.reduce[warp_id()] = {squares, product};
    const int at = 8 * t - int(blockIdx.x) * kColumns;  // of the columns whose router the block adds
    if (at > -8 && at < kColumns) {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (at + i >= 0 && at + i < kColumns) s.columns[at + i] = x[i];
    }
  }
}
DEVICE void read_reduced(Context& c) {
  float squares = 0, product = 0;
#pragma unroll
  for (int w = 0; w < (kOctets + 31) / 32; ++w) {
    squares += c.s.reduce[w].x;
    product += c.s.reduce[w].y;
  }
  c.inverse_rms = rsqrtf(squares * (1.0f / kHidden) + 1e-6f);
  c.beta_logit = round_bf16(product * c.inverse_rms);
}

DEVICE float stream_column(const Shared& s, int i) {  // of the thread's eight
  const u32 pair = reinterpret_cast<const u32*>(&s.stream[threadIdx.x])[i / 2];
  return i & 1 ? high(pair) : low(pair);
}
DEVICE uint4 load_octet(const bf16* row) {
  return thread_id() < kOctets ? load_early(row + 8 * threadIdx.x) : make_uint4(0, 0, 0, 0);
}

DEVICE void clear_sums(const Context& c, int from_thread) {  // of the exchange after the next
  constexpr int kEach = (REPLICAS * kReplica / 4 + kBlocks - 1) / kBlocks;
  const int i = thread_id() - from_thread, at = (int(blockIdx.x) * kEach + i) * 4;
  if (i >= 0 && i < kEach && at < REPLICAS * kReplica) __stcg(reinterpret_cast<float4*>(c.sums(c.exchanges + 2) + at), make_float4(0, 0, 0, 0));
}

#if COUNTED
// Words {a, b, c, blocks that added}: complete when all blocks of the replica did. Nothing else orders the exchange: no
// fence and no counter on its way. Sums arrive in s.d.received.
DEVICE void send_sums(const Context& c, int words) {
  const float* partial = c.s.d.partial();
  float* to = c.my_sums();
  const auto at = [&](int i) { return i < kHidden || (i >= kLogits && i < kLogits + kExperts) ? partial[i] : 0.0f; };
  for (int w = thread_id(); w < words; w += kConsumers) add4(to + 4 * w, at(3 * w), at(3 * w + 1), at(3 * w + 2), 1.0f);
  // Cleared sums are in place before anything that this block adds later: the fence waits while the sums travel.
  if (warp_id() == kWarps - 1) {
    clear_sums(c, kConsumers - 32);
    __threadfence();
  }
}
template <int kMany>
DEVICE void receive_words(const Context& c, int w) {
  const float* sums = c.sums(c.exchanges) + 4 * w;
  const u32 all = __float_as_uint(float(kBlocks / REPLICAS));
  uint4 v[kMany][REPLICAS];
  Spins spins;
  while (true) {
    bool complete = true;
#pragma unroll
    for (int i = 0; i < kMany; ++i)
#pragma unroll
      for (int r = 0; r < REPLICAS; ++r) v[i][r] = poll16(sums + r * kReplica + 4 * i * kConsumers), complete &= v[i][r].w == all;
    if (__all_sync(~0u, complete)) break;
    spins.again();
  }
#pragma unroll
  for (int i = 0; i < kMany; ++i) {
    float sum[3] = {};
#pragma unroll
    for (int r = 0; r < REPLICAS; ++r) sum[0] += __uint_as_float(v[i][r].x), sum[1] += __uint_as_float(v[i][r].y), sum[2] += __uint_as_float(v[i][r].z);
#pragma unroll
    for (int k = 0; k < 3; ++k) c.s.d.received[3 * (w + i * kConsumers) + k] = sum[k];
  }
}
DEVICE void receive_sums(const Context& c, int words) {  // whole warps
  const int w = thread_id();
  if (w + kConsumers < words) receive_words<2>(c, w);
  else if (w < words) receive_words<1>(c, w);
}
#endif

// All blocks' partial sums of the residual meet: stream = bf16(stream + bf16(sum)).
DEVICE void exchange(Context& c, const bf16* norm_row, const bf16* beta_row, bool routes) {
  Shared& s = c.s;
  const int t = thread_id();
  const uint4 norm = load_octet(norm_row), beta = beta_row ? load_octet(beta_row) : make_uint4(0, 0, 0, 0);
  consumers_meet();
  c.fine();
  if (t == 0) s.exchanging = 1;
  float x[8];
#if COUNTED
  send_sums(c, whole_warps(routes ? kAllWords : kSumWords));
  receive_sums(c, whole_warps(routes ? kAllWords : kSumWords));
  consumers_meet();
  c.fine();
  if (t < kOctets) {
    const float4 a = reinterpret_cast<const float4*>(s.d.received)[2 * t], b = reinterpret_cast<const float4*>(s.d.received)[2 * t + 1];
    const float sum[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = stream_column(s, i) + round_bf16(sum[i]);
  }
#else
  const float* sums = c.sums(c.exchanges);
  if (t == 0) add_release(c.args.sync + kSyncCounter);
  clear_sums(c, 0);
  if (t == 0) wait_counter(c.args.sync + kSyncCounter, (u32(c.args.epoch) * (2 * kLayers) + u32(c.exchanges) + 1) * kBlocks);
  consumers_meet();
  c.fine();
  if (t < kOctets) {
    float4 a[REPLICAS], b[REPLICAS];
#pragma unroll
    for (int r = 0; r < REPLICAS; ++r) {
      a[r] = __ldcg(reinterpret_cast<const float4*>(sums + r * kReplica + 8 * t));
      b[r] = __ldcg(reinterpret_cast<const float4*>(sums + r * kReplica + 8 * t + 4));
    }
#pragma unroll
    for (int r = 1; r < REPLICAS; ++r) {
      a[0].x += a[r].x; a[0].y += a[r].y; a[0].z += a[r].z; a[0].w += a[r].w;
      b[0].x += b[r].x; b[0].y += b[r].y; b[0].z += b[r].z; b[0].w += b[r].w;
    }
    const float sum[8] = {a[0].x, a[0].y, a[0].z, a[0].w, b[0].x, b[0].y, b[0].z, b[0].w};
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = stream_column(s, i) + round_bf16(sum[i]);
  } else if (routes && t < kOctets + kExperts) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < REPLICAS; ++r) sum += __ldcg(sums + r * kReplica + kHidden + t - kOctets);
    s.logit[t - kOctets] = sum;
  }
#endif
  if (t < kOctets) {
    s.stream[t] = make_uint4(pack(x[0], x[1]), pack(x[2], x[3]), pack(x[4], x[5]), pack(x[6], x[7]));
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = round_bf16(x[i]);
  }
  publish_stream(c, x, norm, beta);
  ++c.exchanges;
  if (t == 0) s.exchanging = 0, s.exchanged = c.exchanges;
  consumers_meet();
  read_reduced(c);
}
DEVICE const float* logits(const Shared& s) {
#if COUNTED
  return s.d.received + kLogits;
#else
  return s.logit;
#endif
}

// A block's share of the sum: quad threadIdx.x, and quad 512 + t / octets in the threads t with t % octets == 0.
template <int kOctetsHere>
DEVICE void contribute(Context& c, const float (&main)[4], const float (&rest)[4]) {
  const int t = thread_id();
  const auto put = [&](int quad, const float (&v)[4]) {
    if (COUNTED) *reinterpret_cast<float4*>(c.s.d.partial() + 4 * quad) = make_float4(v[0], v[1], v[2], v[3]);
    else add4(c.my_sums() + 4 * quad, v[0], v[1], v[2], v[3]);
  };
  if (kMainQuads) put(t, main);
  if (t % kOctetsHere == 0 && t / kOctetsHere < kRestQuads) put(kMainQuads + t / kOctetsHere, rest);
}

// Adds `value` (row `lane` of the block's 32 rows of W_o, the same in all warps) times W_o, and its share of the router.
DEVICE void project_out(Context& c, float value, uint4 router) {
  Shared& s = c.s;
  const int t = thread_id(), warp = warp_id(), lane = lane_id();
  const float2 piece = quantise32(value, s.warp_x + warp * 4);
  // Router: thread (expert t / 8, part t % 8) takes rows 4 part .. of W_router W_o, and columns part, part + 8, ... of the residual.
  {
    const int part = t & 7;
    const u32 words[4] = {router.x, router.y, router.z, router.w};
    float share = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float row = __shfl_sync(~0u, value, part * 4 + i);
      share = fmaf(row, i & 1 ? half_high(words[i / 2]) : half_low(words[i / 2]), share);
      if (part + 8 * i < kColumns) share = fmaf(s.columns[part + 8 * i], i & 1 ? half_high(words[2 + i / 2]) : half_low(words[2 + i / 2]), share);
    }
#pragma unroll
    for (int m = 4; m; m >>= 1) share += __shfl_xor_sync(~0u, share, m);
    const float second = __shfl_sync(~0u, share, 8), third = __shfl_sync(~0u, share, 16), fourth = __shfl_sync(~0u, share, 24);
    if (lane == 0 && warp * 4 < kExperts) {
      if (COUNTED) *reinterpret_cast<float4*>(s.d.partial() + kLogits + warp * 4) = make_float4(share, second, third, fourth);
      else add4(c.my_sums() + kHidden + warp * 4, share, second, third, fourth);
    }
  }
  float main[4] = {}, rest[4];
  c.fine();
  multiply_wide<4, false>(c.ring, s.warp_x + warp * 4, &piece, main, rest);
  contribute<4>(c, main, rest);
}
DEVICE uint4 load_router(const Context& c, int layer) {
  const int t = thread_id();
  return t < kExperts * 8 ? load_early(c.args.prepared + kAtRouter + (u64(layer * kBlocks + blockIdx.x) * kExperts * 8 + t) * 16) : make_uint4(0, 0, 0, 0);
}

// ---- KDA ----
template <class Layer>
DEVICE void kda(Context& c, const Layer& layer, int index) {
  Shared& s = c.s;
  const int t = thread_id(), warp = warp_id(), lane = lane_id();
  const int channel = c.head * 128 + c.quarter * 32 + lane;
  // A warp keeps 8 rows (keys) of the state, a lane one value column.
  float* state = layer.S + (u64(c.head) * 128 + warp * 8) * 128 + c.quarter * 32 + lane;
#if STATE_ASYNC
#pragma unroll
  for (int i = 0; i < 2; ++i) {  // row (t + 512 i) / 8, 16 bytes (t % 8)
    const int piece = t + i * kConsumers;
    const float* from = layer.S + (u64(c.head) * 128 + piece / 8) * 128 + c.quarter * 32 + piece % 8 * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(s.rows) + piece * 16), "l"(from) : "memory");
  }
#else
  float row[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = load_early_float(state + i * 128);
#endif
  bf16* window = warp == 0 ? layer.window_q : warp == 1 ? layer.window_k : layer.window_v;
  const bf16* taps = warp == 0 ? layer.conv_q : warp == 1 ? layer.conv_k : layer.conv_v;
  unsigned short past[3] = {};       // not converted before they are needed: that would wait for them
  uint2 tap = {};
  if (warp < 3) {
#pragma unroll
    for (int i = 0; i < 3; ++i) asm volatile("ld.global.u16 %0, [%1];" : "=h"(past[i]) : "l"(window + i * kWidth + channel));
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(tap.x), "=r"(tap.y) : "l"(taps + channel * 4));
  }
  multiply_long<32, false>(c.ring, s, kProject);
  const uint4 router = load_router(c, index);
  consumers_meet();
  c.stamp();
  const u32 tag = c.tag(index);
  if (t < 128) {
    const float raw = round_bf16(column_sum(s, t) * c.inverse_rms);
    float result = 1.0f / (1.0f + __expf(raw));   // decay = exp(-softplus(g))
    if (warp < 3) {
      const float sum = fmaf(high(tap.y), raw, fmaf(low(tap.y), low(past[2]), fmaf(high(tap.x), low(past[1]), low(tap.x) * low(past[0]))));
      result = round_bf16(sum * sigmoid(sum));
      window[channel] = __ushort_as_bfloat16(past[1]);
      window[kWidth + channel] = __ushort_as_bfloat16(past[2]);
      window[2 * kWidth + channel] = __float2bfloat16_rn(raw);
    }
    if (warp == 2) s.value[lane] = result;
    else send8(c.args.sync + kSyncHead + ((int(blockIdx.x) * 3 + (warp == 3 ? 2 : warp)) * 32 + lane) * 8, __float_as_uint(result), tag);
  }
#if STATE_ASYNC
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  if (t < 384) {
    const int which = t / 128, source = c.head * 4 + t % 128 / 32;
    s.d.head[t] = __uint_as_float(receive8(c.args.sync + kSyncHead + ((source * 3 + which) * 32 + lane) * 8, tag));
  }
  consumers_meet();
  c.stamp();
#if STATE_ASYNC
  float row[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) row[i] = s.rows[(warp * 8 + i) * 32 + lane];
#endif
  float predicted = 0, seen = 0, both = 0, key[8];
  const float4 *queries = reinterpret_cast<const float4*>(s.d.head) + warp * 2, *keys = queries + 32, *decays = keys + 32;
#pragma unroll
  for (int i = 0; i < 8; i += 4) {
    const float4 q = queries[i / 4], k = keys[i / 4], d = decays[i / 4];
    const float qs[4] = {q.x, q.y, q.z, q.w}, ds[4] = {d.x, d.y, d.z, d.w};
    key[i] = k.x, key[i + 1] = k.y, key[i + 2] = k.z, key[i + 3] = k.w;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      row[i + j] *= ds[j];
      predicted = fmaf(row[i + j], key[i + j], predicted);
      seen = fmaf(row[i + j], qs[j], seen);
    }
  }
  {
    const float4 q = reinterpret_cast<const float4*>(s.d.head)[lane], k = reinterpret_cast<const float4*>(s.d.head + 128)[lane];
    both = fmaf(q.w, k.w, fmaf(q.z, k.z, fmaf(q.y, k.y, q.x * k.x)));
  }
  both = warp_sum(both);
  s.d.state[warp * 65 + lane] = predicted;
  s.d.state[warp * 65 + 32 + lane] = seen;
  consumers_meet();
  c.fine();
  float sum = s.d.state[(t & 7) * 130 + t / 8] + s.d.state[(t & 7) * 130 + 65 + t / 8];
#pragma unroll
  for (int m = 4; m; m >>= 1) sum += __shfl_xor_sync(~0u, sum, m);
  if ((t & 7) == 0) s.vector[t / 8] = sum;
  consumers_meet();
  c.fine();
  predicted = s.vector[lane];
  seen = s.vector[32 + lane];
  const float delta = sigmoid(c.beta_logit) * (s.value[lane] - predicted);
#pragma unroll
  for (int i = 0; i < 8; ++i) state[i * 128] = fmaf(key[i], delta, row[i]);
  project_out(c, round_bf16(fmaf(delta, both, seen) * 0.08838834764831845f), router);
}

// ---- MLA ----
constexpr double exp_of(double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < 40; ++n) sum += term *= x / n;
  return sum;
}
struct Frequencies {                                // theta^(-2i/rope) / (2 pi)
  double of[kRope / 2];
  constexpr Frequencies() : of() {
    constexpr double kLogTheta = 9.210340371976182736;
    for (int i = 0; i < kRope / 2; ++i) of[i] = 0.15915494309189533577 / exp_of(kLogTheta * 2 * i / kRope);
  }
};
__constant__ const Frequencies frequencies{};

// `value` is element `column` of a rotated vector; its partner sits in the neighbouring lane.
DEVICE float rotate(float value, int column, long long position) {
  const double turns = double(position) * frequencies.of[column / 2];
  float sine, cosine;
  __sincosf(float((turns - rint(turns)) * 6.283185307179586477), &sine, &cosine);
  const float other = __shfl_xor_sync(~0u, value, 1);
  return round_bf16(column & 1 ? fmaf(other, sine, value * cosine) : fmaf(-other, sine, value * cosine));
}

DEVICE void mma(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Projections of 32 nope, 16 rope and some kv columns; the new row of the cache.
template <class Layer>
DEVICE void mla_project(Context& c, const Layer& layer) {
  Shared& s = c.s;
  const int t = thread_id(), lane = lane_id(), b = int(blockIdx.x);
  const Long m = mla_long(b);
  multiply_long<power_of_two(kQQuads), false, false>(c.ring, s, m);
  consumers_meet();
  const u32 tag = c.tag(0);
  if (t < (48 + 4 * kKvQuads + 31) / 32 * 32) {
    const bool present = t < 4 * m.quads;
    float value = present ? round_bf16(column_sum(s, t) * c.inverse_rms) : 0.0f;
    if (t < 32) {
      send8(c.args.sync + kSyncNope + (b * 32 + t) * 8, __float_as_uint(value), tag);
    } else {
      const int kv = b * 4 * kKvQuads + t - 48, rope = t < 48 ? c.quarter * 16 + t - 32 : kv - kLatent;
      const float rotated = rotate(value, rope & (kRope - 1), c.args.position);
      if (t < 48) {
        s.value[t - 32] = rotated;
      } else if (present) {
        if (rope >= 0) value = rotated;
        send8(c.args.sync + kSyncRow + kv * 8, __float_as_uint(value), tag);
        if (rope >= 0) layer.k_rope[c.args.position * kRope + rope] = __float2bfloat16_rn(value);
        else layer.c_kv[c.args.position * kLatent + kv] = __float2bfloat16_rn(value);
      }
    }
  }
  (void)lane;
}

constexpr float kScoreScale = 0.07216878364870322f * 1.4426950408889634f;  // 192^-1/2, and to base 2

// q W_k^T of the block's slice of the latent; then everybody gets everybody's.
DEVICE void mla_absorb(Context& c) {
  Shared& s = c.s;
  const int t = thread_id(), warp = warp_id(), lane = lane_id(), b = int(blockIdx.x);
  const u32 tag = c.tag(0);
  const u32 chunk = c.ring.wait();
  if (t < 128) {
    const float q = __uint_as_float(receive8(c.args.sync + kSyncNope + (c.head * 4 * 32 + t) * 8, tag));
    const u32 two = lds4(chunk + kLatents * 64 + t / 2 * 4), four = lds4(chunk + kLatents * 64 + 256 + t / 4 * 4);
    const float scale = t & 1 ? high(two) : low(two), zero = float(four >> (t & 3) * 8 & 255);
    const float y = q * scale;
    const float2 piece = quantise32(y, s.hidden + warp * 4);
    const float zeros = warp_sum(y * zero);
    if (lane == 0) s.piece[warp] = piece, s.zero_sum[warp] = zeros;
  }
  consumers_meet();
  c.fine();
  constexpr int kSliceQuads = kLatents / 4;
  if (t < 16 * kSliceQuads) {
    const int octet = t / kSliceQuads, quad = t % kSliceQuads;
    Dots d;
    d.clear();
    d.add(word_at(chunk, t), s.hidden[octet]);
    const float unit = s.piece[octet / 4].x;
    *reinterpret_cast<float4*>(s.d.part + octet * 128 + quad * 4) = make_float4(unit * d.value(0), unit * d.value(1), unit * d.value(2), unit * d.value(3));
  }
  c.ring.release();
  consumers_meet();
  c.fine();
  if (t < kLatents) {
    const float sum = column_sum(s, t) - (s.zero_sum[0] + s.zero_sum[1] + s.zero_sum[2] + s.zero_sum[3]);
    s.query[t] = __float2bfloat16_rn(sum * kScoreScale);
  } else if (t >= 128 && t < 144) {
    s.query[kLatents + t - 128] = __float2bfloat16_rn(s.value[t - 128] * kScoreScale);
  }
  consumers_meet();
  constexpr int kWords = 2 * kQueryWords * 4;
  if (t < kWords) {  // word (half, j, lane % 4): three pairs of neighbouring elements
    const u32* pairs = reinterpret_cast<const u32*>(s.query);
    const int half = t / (kQueryWords * 4), j = t / 4 % kQueryWords, at = half * kHalfSteps * 4 + 12 * j + (t & 3);
    send16(c.args.sync + kSyncQuery + (b * kWords + t) * 16, pairs[at], pairs[at + 4], pairs[at + 8], tag);
  }
}

struct Query {                                      // A fragments of 16 heads and one slice of the key
  u32 top[kHalfSteps], bottom[kHalfSteps];          // heads lane / 4 and lane / 4 + 8
};
// The words of the block's heads, each polled by one lane of one warp; then fragments from shared memory.
DEVICE void receive_query(const Context& c, int first_head) {
  constexpr int kWords = 2 * kQueryWords * 4, kSide = kTilesHere * 16;
  const u32 tag = c.tag(0);
  const int lane = lane_id(), t = lane & 3, g = lane / 4, warp = warp_id();
  // Warp: slice warp % 8, heads 8 (warp / 8) + g of its tiles' 16 kTilesHere.
#pragma unroll
  for (int side = 0; side < kTilesHere; ++side) {
    const int local = side * 16 + warp / 8 * 8 + g, head = first_head + local, from_slice = warp % 8;
    const unsigned char* from = c.args.sync + kSyncQuery + ((head * 4 + from_slice / 2) * kWords + (from_slice & 1) * kQueryWords * 4 + t) * 16;
    // The first word alone until it is there: a third of the traffic.
    Spins spins;
    while (!__all_sync(~0u, head >= kHeads || poll16(from).w == tag)) spins.again();
    uint4 word[kQueryWords];
    bool all;
    do {
      all = true;
#pragma unroll
      for (int j = 0; j < kQueryWords; ++j) {
        word[j] = head < kHeads ? poll16(from + j * 64) : make_uint4(0, 0, 0, tag);
        all &= word[j].w == tag;
      }
      all = __all_sync(~0u, all);
      if (!all) spins.again();
    } while (!all);
#pragma unroll
    for (int j = 0; j < kQueryWords; ++j) {
      const int at = ((from_slice * kQueryWords + j) * kSide + local) * 4 + t;
      c.s.a.query[0][at] = word[j].x;
      c.s.a.query[1][at] = word[j].y;
      c.s.a.query[2][at] = word[j].z;
    }
  }
  consumers_meet();
}
DEVICE void load_query(const Shared& s, Query& q, int tile, int slice) {  // again for each pass: registers are short
  constexpr int kSide = kTilesHere * 16;
  const int lane = lane_id(), t = lane & 3, g = lane / 4;
#pragma unroll
  for (int side = 0; side < 2; ++side)
#pragma unroll
    for (int j = 0; j < kQueryWords; ++j)
#pragma unroll
      for (int k = 0; k < 3; ++k)
        (side ? q.bottom : q.top)[3 * j + k] = lds4(shared_address(&s.a.query[k][((slice * kQueryWords + j) * kSide + tile * 16 + side * 8 + g) * 4 + t]));
}

// score[slice][head][row] of one tile of cache rows, over one slice of the key.
DEVICE void score_tile(const Query& q, u32 tile, int slice, bool valid, float (&d)[4]) {
  const int g = lane_id() / 4, t = lane_id() & 3, quarter = slice / 2;
  const u32 row = tile + g * kRowBytes + t * 4;
  u32 b[kHalfSteps + 1];
#pragma unroll
  for (int step = 0; step < kHalfSteps; ++step) {
    const int k = (slice & 1) * kHalfSteps * 8 + step * 8;
    b[step] = 0;
    if (valid) b[step] = lds4(row + 2 * (k < kLatents ? quarter * kLatents + k : kLatent + quarter * 16 + k - kLatents));
  }
  b[kHalfSteps] = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) d[i] = 0;
#pragma unroll
  for (int step = 0; step < kHalfSteps; step += 2) {
    const bool pair = step + 1 < kHalfSteps;
    mma(d, q.top[step], q.bottom[step], pair ? q.top[step + 1] : 0, pair ? q.bottom[step + 1] : 0, b[step], b[step + 1]);
  }
}

struct RowPiece {                                   // kChunkTiles neighbouring bf16 of a row
  u32 pair[kChunkTiles / 2];
  DEVICE RowPiece(u32 p, bool present) {
#pragma unroll
    for (u32& two : pair) two = 0;
    if (!present) return;
    if constexpr (kChunkTiles == 4) {
      const uint2 v = lds8(p);
      pair[0] = v.x, pair[1] = v.y;
    } else {
      pair[0] = lds4(p);
    }
  }
};
DEVICE u32 column_pair(const RowPiece& even, const RowPiece& odd, int j) {
  return __byte_perm(even.pair[j / 2], odd.pair[j / 2], j & 1 ? 0x7632 : 0x5410);
}

// The new row arrives from the blocks that projected it.
DEVICE void receive_row(const Context& c, u32 row) {
  const u32 tag = c.tag(0);
  for (int i = thread_id(); i < kKey; i += kConsumers)
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(row + i * 2), "h"(static_cast<unsigned short>(receive8(c.args.sync + kSyncRow + i * 8, tag) >> 16)) : "memory");
#if COPY
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Attention of all heads over the block's rows; leaves max, sum and weighted latents in scratch.
DEVICE void mla_attend(Context& c) {
  Shared& s = c.s;
  const int warp = warp_id(), lane = lane_id(), g = lane / 4, t4 = lane & 3;
  const int tile = warp / 8 % kTilesHere, slice = warp % 8, row_group = warp / (8 * kTilesHere);  // of scores
  const int latent_tile = warp / kLatentSlices, latent_slice = warp % kLatentSlices;             // of sums
  const int first_head = int(blockIdx.x) % kSharing * kTilesHere * 16, split = int(blockIdx.x) / kSharing;
  const bool busy = latent_tile < kTilesHere;
  receive_query(c, first_head);
  c.stamp();
  const Rows rows(c.args.position + 1);
  float latent[kSliceTiles][4] = {}, top[kTilesHere], total[kTilesHere];
#pragma unroll
  for (int h = 0; h < kTilesHere; ++h) top[h] = -1e30f, total[h] = 0;
#pragma unroll 1
  for (int done = 0; done < rows.count; done += kPassRows) {
    const int here = min(kPassRows, rows.count - done), tiles = (here + kTileRows - 1) / kTileRows;
    const int first_slot = c.ring.slot;
    const auto slot_of = [&](int i) { return first_slot + i < SLOTS ? first_slot + i : first_slot + i - SLOTS; };
    const auto tile_at = [&](int i) { return c.ring.at(slot_of(i / 2)) + (i & 1) * kTileRows * kRowBytes; };
#pragma unroll 1
    for (int i = 0; i < tiles; i += 2) {
      c.ring.wait();
      c.ring.skip();
    }
    if (rows.owns_new && done + kPassRows >= rows.count) {
      receive_row(c, tile_at(tiles - 1) + (here - 1) % kTileRows * kRowBytes);
      consumers_meet();
    }
    {
      Query query;
      load_query(s, query, tile, slice);
#pragma unroll
      for (int k = 0; k < PASS / kRowGroups; ++k) {
        const int i = k * kRowGroups + row_group;
        if (i >= tiles) break;
          float d[4];
          score_tile(query, tile_at(i), slice, i * kTileRows + g < here, d);
          float* to = s.a.score + (slice * kTilesHere * 16 + tile * 16 + g) * kPassRows + i * 8 + 2 * t4;
          *reinterpret_cast<float2*>(to) = {d[0], d[1]};
          *reinterpret_cast<float2*>(to + 8 * kPassRows) = {d[2], d[3]};
        }
    }
    consumers_meet();
    if (done == 0) c.fine();
#pragma unroll
    for (int h = 0; h < kTilesHere; ++h) {  // a warp a head, a lane a row or two
      constexpr int kALane = (kPassRows + 31) / 32;
      const int head = h * 16 + warp;
      float score[kALane], most = -1e30f;
#pragma unroll
      for (int k = 0; k < kALane; ++k) {
        const int row = k * 32 + lane;
        score[k] = -1e30f;
        if (row < here) {
          score[k] = 0;
#pragma unroll
          for (int sl = 0; sl < 8; ++sl) score[k] += s.a.score[(sl * kTilesHere * 16 + head) * kPassRows + row];
        }
        most = fmaxf(most, score[k]);
      }
      const float before = top[h];
      top[h] = fmaxf(before, warp_most(most));
      const float shrink = exp2_fast(before - top[h]);
      u32 sum = 0;
#pragma unroll
      for (int k = 0; k < kALane; ++k) {
        const int row = k * 32 + lane;
        const float weight = row < here ? round_bf16(exp2_fast(score[k] - top[h])) : 0.0f;
        // Weights are at most 1 and the largest is 1, or `total` already counts one: 2^-24 is enough.
        sum += __float2uint_rn(weight * 16777216.0f);
        if (row < kPassSteps * 16) s.probability[head * kWeightStride + row] = __float2bfloat16_rn(weight);
      }
      total[h] = fmaf(total[h], shrink, float(__reduce_add_sync(~0u, sum)) * (1.0f / 16777216.0f));
      if (lane == 0) s.shrink[head] = shrink;
    }
    consumers_meet();
    if (done == 0) c.fine();
    if (busy) {
      if (done) {
        const float upper = s.shrink[latent_tile * 16 + g], lower = s.shrink[latent_tile * 16 + g + 8];
#pragma unroll
        for (int j = 0; j < kSliceTiles; ++j) latent[j][0] *= upper, latent[j][1] *= upper, latent[j][2] *= lower, latent[j][3] *= lower;
      }
#pragma unroll
      for (int i = 0; i < PASS; i += 2) {
        if (i >= tiles) break;
          const u32* p = reinterpret_cast<const u32*>(s.probability + (latent_tile * 16 + g) * kWeightStride + i * 8) + t4;
          const bool second = i + 1 < tiles;
          const u32 a0 = p[0], a1 = p[4 * kWeightStride], a2 = second ? p[4] : 0, a3 = second ? p[4 * kWeightStride + 4] : 0;
          const int row = 2 * t4;
          const u32 upper = tile_at(i) + row * kRowBytes + (latent_slice * kSliceTiles * 8 + g * kChunkTiles) * 2;
          const u32 lower = tile_at(second ? i + 1 : i) + row * kRowBytes + (latent_slice * kSliceTiles * 8 + g * kChunkTiles) * 2;
#pragma unroll
          for (int chunk = 0; chunk < kChunks; ++chunk) {
            const int offset = chunk * kChunkTiles * 16;
            const RowPiece r0(upper + offset, i * 8 + row < here), r1(upper + offset + kRowBytes, i * 8 + row + 1 < here);
            const RowPiece r2(lower + offset, second && i * 8 + 8 + row < here), r3(lower + offset + kRowBytes, second && i * 8 + 9 + row < here);
#pragma unroll
            for (int j = 0; j < kChunkTiles; ++j) mma(latent[chunk * kChunkTiles + j], a0, a1, a2, a3, column_pair(r0, r1, j), column_pair(r2, r3, j));
          }
        }
    }
#pragma unroll 1
    for (int i = 0; i < tiles; i += 2) c.ring.give_back_oldest();
  }
  c.stamp();
  if (busy) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      const int head = first_head + latent_tile * 16 + side * 8 + g;
      if (head < kHeads) {
        // column n of the fragment of tile j of a chunk is latent n * kChunkTiles + j of the chunk's 8 kChunkTiles
        u32* to = reinterpret_cast<u32*>(c.args.scratch + kScratchLatent + ((u64(head) * kSplits + split) * kLatent + latent_slice * kSliceTiles * 8 + 2 * t4 * kChunkTiles) * 2);
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
          u32 w[kChunkTiles];
#pragma unroll
          for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int j = 0; j < kChunkTiles; j += 2)
              w[(n * kChunkTiles + j) / 2] = pack(latent[chunk * kChunkTiles + j][2 * side + n], latent[chunk * kChunkTiles + j + 1][2 * side + n]);
          if constexpr (kChunkTiles == 4) *reinterpret_cast<uint4*>(to + chunk * kChunkTiles * 4) = make_uint4(w[0], w[1], w[2], w[3]);
          else *reinterpret_cast<uint2*>(to) = make_uint2(w[0], w[1]);
        }
      }
    }
  }
#pragma unroll
  for (int h = 0; h < kTilesHere; ++h) {
    const int head = first_head + h * 16 + warp;
    if (lane == 0 && head < kHeads) reinterpret_cast<float2*>(c.args.scratch + kScratchSums)[head * kSplits + split] = {top[h], total[h]};
  }
}

// The splits of the block's head and latent slice meet; W_v; then the head's four blocks meet.
DEVICE float mla_values(Context& c) {
  Shared& s = c.s;
  const int t = thread_id(), warp = warp_id(), lane = lane_id(), b = int(blockIdx.x);
  const u32 tag = c.tag(0);
  consumers_meet();
  if (t == 0) {
    s.exchanging = 1;
    add_release(c.args.sync + kSyncSplits);
    wait_counter(c.args.sync + kSyncSplits, (u32(c.args.epoch) + 1) * kBlocks);
    s.exchanging = 0;
  }
  consumers_meet();
  c.stamp();
  constexpr int kALane = (kSplits + 31) / 32, kColumnsEach = kLatents / 16;  // 16 lanes share a split's slice
  float top[kALane], weight[kALane], most = -1e30f, total = 0;
#pragma unroll
  for (int i = 0; i < kALane; ++i) {
    const int split = i * 32 + lane;
    const float2 sums = split < kSplits ? __ldcg(reinterpret_cast<const float2*>(c.args.scratch + kScratchSums) + c.head * kSplits + split) : float2{-1e30f, 0};
    top[i] = sums.x;
    weight[i] = sums.y;
    most = fmaxf(most, sums.x);
  }
  float sum[kColumnsEach] = {};
  const int down = t / 16, across = t % 16;
  const unsigned char* from = c.args.scratch + kScratchLatent + ((u64(c.head) * kSplits) * kLatent + c.quarter * kLatents + across * kColumnsEach) * 2;
  u32 words[kALane][kColumnsEach / 2];
#pragma unroll
  for (int i = 0; i < kALane; ++i) {
    const int split = i * 32 + down;
    if (split < kSplits) {
      if constexpr (kColumnsEach == 8) {
        const uint4 v = __ldcg(reinterpret_cast<const uint4*>(from + u64(split) * kLatent * 2));
        words[i][0] = v.x, words[i][1] = v.y, words[i][2] = v.z, words[i][3] = v.w;
      } else {
        words[i][0] = __ldcg(reinterpret_cast<const u32*>(from + u64(split) * kLatent * 2));
      }
    } else {
#pragma unroll
      for (u32& w : words[i]) w = 0;
    }
  }
  most = warp_max(most);
#pragma unroll
  for (int i = 0; i < kALane; ++i) {
    const float shrink = exp2_fast(top[i] - most);
    total = fmaf(shrink, weight[i], total);
    weight[i] = shrink;
  }
  total = 1.0f / warp_sum(total);
#pragma unroll
  for (int i = 0; i < kALane; ++i) {
    const float w = __shfl_sync(~0u, weight[i], down) * total;
#pragma unroll
    for (int k = 0; k < kColumnsEach; k += 2) {
      sum[k] = fmaf(w, low(words[i][k / 2]), sum[k]);
      sum[k + 1] = fmaf(w, high(words[i][k / 2]), sum[k + 1]);
    }
  }
#pragma unroll
  for (int k = 0; k < kColumnsEach; ++k) sum[k] += __shfl_xor_sync(~0u, sum[k], 16);
  if (lane < 16) {
#pragma unroll
    for (int k = 0; k < kColumnsEach; k += 2) *reinterpret_cast<float2*>(s.d.part + warp * 128 + across * kColumnsEach + k) = {sum[k], sum[k + 1]};
  }
  consumers_meet();
  if (t < kLatents) {
    const float2 piece = quantise32(column_sum(s, t), s.hidden + warp * 4);
    if (lane == 0) s.piece[warp] = piece;
  }
  consumers_meet();
  c.fine();
  const u32 chunk = c.ring.wait();
  if (warp < kLatents / 8) {
    Dots d;
    d.clear();
    d.add(word_at(chunk, t), s.hidden[warp]);
    const u32 at = chunk + kLatents * 64;
    const float2 piece = s.piece[warp / 4];
    float out[4] = {};
    fold(out, d, lds8(at + lane * 8), lds4(at + 256 + lane * 4), piece.x, warp % 4 == 0 ? piece.y : 0.0f);
    *reinterpret_cast<float4*>(s.d.part + warp * 128 + lane * 4) = make_float4(out[0], out[1], out[2], out[3]);
  }
  c.ring.release();
  consumers_meet();
  c.fine();
  if (t < 128) {
    send8(c.args.sync + kSyncValue + (b * 128 + t) * 8, __float_as_uint(column_sum(s, t, kLatents / 8)), tag);
    s.value[t] = __uint_as_float(receive8(c.args.sync + kSyncValue + ((c.head * 4 + warp) * 128 + c.quarter * 32 + lane) * 8, tag));
  }
  consumers_meet();
  return round_bf16(s.value[lane] + s.value[32 + lane] + s.value[64 + lane] + s.value[96 + lane]);
}

template <class Layer>
DEVICE void mla(Context& c, const Layer& layer, int index) {
  mla_project(c, layer);
  c.stamp();
  mla_absorb(c);
  mla_attend(c);
  const uint4 router = load_router(c, index);
  const float value = mla_values(c);
  c.stamp();
  project_out(c, value, router);
}

// ---- MoE ----
// The block needs one expert: the one whose rank is its slot. Ties rank the lower index first.
DEVICE void choose_expert(Context& c) {
  Shared& s = c.s;
  const int t = thread_id(), expert = t / 8, part = t & 7, slot = int(blockIdx.x) / kParts;
  static_assert(kExperts % 8 == 0 && kExperts <= 64, "");
  if (expert >= kExperts) return;  // whole warps
  // Ranks by the rounded logits. Weights by the unrounded: upstream noise moves one in three over a rounding edge, and
  // half a unit of error in all of them weighs less than a whole one in some.
  const float raw = logits(s)[expert] * c.inverse_rms, mine = round_bf16(raw);
  int rank = 0;
#pragma unroll
  for (int i = 0; i < kExperts / 8; ++i) {
    const int other = part + 8 * i;
    const float theirs = round_bf16(logits(s)[other] * c.inverse_rms);
    rank += theirs > mine || (theirs == mine && other < expert);
  }
#pragma unroll
  for (int m = 4; m; m >>= 1) rank += __shfl_xor_sync(~0u, rank, m);
  if (part == 0 && rank < kTopK) {
    s.top[rank] = raw;
    if (rank == slot) {
      s.expert = expert;
      barrier_arrive(shared_address(&s.go));
    }
  }
}
DEVICE float routing_weight(const Shared& s) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kTopK; ++i) sum += __expf(s.top[i] - s.top[0]);
  return __expf(s.top[int(blockIdx.x) / kParts] - s.top[0]) / sum * 2.446f;  // the 1e-9 of the task is below f32's last bit
}

template <int kCount>
DEVICE void hidden_units(Context& c, float weight) {  // silu(gate) up of kCount units, quantised
  Shared& s = c.s;
  const int t = thread_id();
  if (t < (kCount + 31) / 32 * 32) {
    float value = 0;
    if (t < kCount) {
      const float gate = column_sum(s, t) * c.inverse_rms, up = column_sum(s, kCount + t) * c.inverse_rms;
      value = gate * sigmoid(gate) * up * weight;
    }
    const float2 piece = quantise32(value, s.hidden + warp_id() * 4);
    if (lane_id() == 0) s.piece[warp_id()] = piece;
  }
}

DEVICE void moe(Context& c) {
  Shared& s = c.s;
  const int t = thread_id();
  choose_expert(c);
  c.fine();
  float main[4] = {}, rest[4];
  multiply_long<power_of_two(kSharedQuads), true>(c.ring, s, kShared);
  consumers_meet();
  hidden_units<kSharedUnits>(c, 1.0f);
  consumers_meet();
  {
    float2 piece[(kSharedOctets + 3) / 4];
#pragma unroll
    for (int p = 0; p < (kSharedOctets + 3) / 4; ++p) piece[p] = s.piece[p];
    multiply_wide<kSharedOctets, true>(c.ring, s.hidden, piece, main, rest);
  }
  float shared_rest[4] = {};         // of rest quad t % kRestQuads
  if (COUNTED) {
    if (t % kSharedOctets == 0 && t / kSharedOctets < kRestQuads) *reinterpret_cast<float4*>(s.d.state + t / kSharedOctets * 4) = make_float4(rest[0], rest[1], rest[2], rest[3]);
  } else if (t % kSharedOctets == 0 && t / kSharedOctets < kRestQuads) {
    add4(c.my_sums() + 4 * (kMainQuads + t / kSharedOctets), rest[0], rest[1], rest[2], rest[3]);
  }
  const float weight = routing_weight(s);
  c.stamp();
  multiply_long<power_of_two(kRoutedQuads), false>(c.ring, s, kRouted);
  consumers_meet();
  if (COUNTED && t % kUnitOctets == 0 && t / kUnitOctets < kRestQuads) {
    const float4 v = *reinterpret_cast<const float4*>(s.d.state + t / kUnitOctets * 4);
    shared_rest[0] = v.x, shared_rest[1] = v.y, shared_rest[2] = v.z, shared_rest[3] = v.w;
  }
  c.stamp();
  hidden_units<kUnits>(c, weight);
  consumers_meet();
  c.fine();
  {
    float2 piece[kUnitOctets / 4];
#pragma unroll
    for (int p = 0; p < kUnitOctets / 4; ++p) piece[p] = s.piece[p];
    multiply_wide<kUnitOctets, false>(c.ring, s.hidden, piece, main, rest);
  }
  if (COUNTED && t % kUnitOctets == 0 && t / kUnitOctets < kRestQuads) {
#pragma unroll
    for (int i = 0; i < 4; ++i) rest[i] += shared_rest[i];
  }
  contribute<kUnitOctets>(c, main, rest);
}

// The last sum: a few blocks wait for it and write the result.
DEVICE void finish(Context& c) {
  Shared& s = c.s;
  const int t = thread_id(), b = int(blockIdx.x);
  constexpr int kWriters = (kOctets + 31) / 32;
  consumers_meet();
#if COUNTED
  send_sums(c, whole_warps(kSumWords));
  if (b >= kWriters) return;
  receive_sums(c, whole_warps(kSumWords));
  consumers_meet();
  const auto sum_of = [&](int i) { return s.d.received[8 * t + i]; };
#else
  const float* sums = c.sums(c.exchanges);
  if (t == 0) add_release(c.args.sync + kSyncCounter);
  clear_sums(c, 0);
  if (b >= kWriters) return;
  if (t == 0) wait_counter(c.args.sync + kSyncCounter, (u32(c.args.epoch) * (2 * kLayers) + u32(c.exchanges) + 1) * kBlocks);
  consumers_meet();
  const auto sum_of = [&](int i) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < REPLICAS; ++r) sum += __ldcg(sums + r * kReplica + 8 * t + i);
    return sum;
  };
#endif
  if (warp_id() == b && t < kOctets) {
    float out[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) out[i] = stream_column(s, i) + round_bf16(sum_of(i));
    *reinterpret_cast<uint4*>(c.args.hidden_out + 8 * t) = make_uint4(pack(out[0], out[1]), pack(out[2], out[3]), pack(out[4], out[5]), pack(out[6], out[7]));
  }
}

DEVICE void consume(const ol::Args& args, unsigned char* ring, Shared& s) {
  Context c{args, s, Consumer{shared_address(ring), shared_address(s.full), lane_id() == 0}, 0, 0, 0, int(blockIdx.x) >> 2, int(blockIdx.x) & 3,
            reinterpret_cast<u64*>(args.scratch + kScratchStamps) + int(blockIdx.x) * kStamps, 0};
  c.stamp();
  const uint4 token = load_octet(args.token), norm = load_octet(args.kda[0].norm), beta = load_octet(args.kda[0].beta + c.head * kHidden);
  const u32 words[4] = {token.x, token.y, token.z, token.w};
  float x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = i & 1 ? high(words[i / 2]) : low(words[i / 2]);
  if (thread_id() < kOctets) s.stream[threadIdx.x] = token;
  publish_stream(c, x, norm, beta);
  consumers_meet();
  read_reduced(c);
  c.stamp();
  // Two exchanges a layer, one piece of code: A behind attention, B behind the mixture.
#pragma unroll 1
  for (int half = 0; half < 2 * kLayers; ++half) {
    const int layer = half / 2;
    if (half & 1) moe(c);
    else if (layer < kKdaLayers) kda(c, args.kda[layer], layer);
    else mla(c, args.mla[0], layer);
    c.stamp();
    if (half == 2 * kLayers - 1) break;
    const bool kda_next = (half & 1) && layer + 1 < kKdaLayers;
    const bf16* norm = !(half & 1) ? args.moe[layer].norm : kda_next ? args.kda[layer + 1].norm : args.mla[0].norm;
    exchange(c, norm, kda_next ? args.kda[layer + 1].beta + c.head * kHidden : nullptr, !(half & 1));
    c.stamp();
  }
  finish(c);
  c.stamp();
}

// ---- prepare: weights into the order in which they are consumed ----

struct Columns {                     // four neighbouring columns of an int4 matrix
  const unsigned char* packed;       // (in/2, width)
  const bf16 *scale, *zero;          // (in/128, width)
  int width, column;
};
template <class Weight>
__device__ Columns columns_of(const Weight& w, int width, int column, u64 expert = 0, u64 in = 0) {
  return {w.packed + expert * (in / 2) * width, w.scale + expert * (in / kGroup) * width, w.zero + expert * (in / kGroup) * width, width, column};
}
__device__ uint4 pack_word(const Columns& m, int octet) {
  const unsigned char* p = m.packed + u64(octet) * 4 * m.width + m.column;
  u32 r[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) r[i] = *reinterpret_cast<const u32*>(p + u64(i) * m.width);
  const u32 a = __byte_perm(r[0], r[1], 0x5140), b = __byte_perm(r[2], r[3], 0x5140);
  const u32 c = __byte_perm(r[0], r[1], 0x7362), d = __byte_perm(r[2], r[3], 0x7362);
  return make_uint4(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632), __byte_perm(c, d, 0x5410), __byte_perm(c, d, 0x7632));
}
__device__ void put_scales(const Columns& m, int group, unsigned char* scales, unsigned char* zeros) {
  *reinterpret_cast<uint2*>(scales) = *reinterpret_cast<const uint2*>(m.scale + u64(group) * m.width + m.column);
  const uint2 z = *reinterpret_cast<const uint2*>(m.zero + u64(group) * m.width + m.column);
  *reinterpret_cast<u32*>(zeros) = u32(low(z.x)) | u32(high(z.x)) << 8 | u32(low(z.y)) << 16 | u32(high(z.y)) << 24;
}

template <class Source>
__device__ void put_long(unsigned char* to, const Long m, Source source) {
  for (int i = int(threadIdx.x); i < kOctets * m.quads; i += int(blockDim.x)) {
    const int octet = i / m.quads, quad = i % m.quads;
    unsigned char* at;
    if (octet < kRounds * 256) {
      const int round = octet / 256, warp = octet % 256 / 16, inside = octet % 16, step = inside / m.subs, sub = inside % m.subs;
      at = to + (round * 8 / m.subs + step / 2) * m.main_bytes() + (((step % 2 * kWarps + warp) * m.subs + sub) * m.quads + quad) * 16;
    } else {
      at = to + m.main_chunks() * m.main_bytes() + ((octet - kRounds * 256) * m.quads + quad) * 16;
    }
    *reinterpret_cast<uint4*>(at) = pack_word(source(quad), octet);
  }
  for (int i = int(threadIdx.x); i < kGroups * m.quads; i += int(blockDim.x)) {
    const int group = i / m.quads, quad = i % m.quads;
    if (group < kRounds * 16) {
      const int warp = group % 16, chunk = group / 16 * 8 / m.subs + warp / (2 * m.subs), index = warp % (2 * m.subs) * m.quads + quad;
      unsigned char* at = to + chunk * m.main_bytes() + m.main_words() * 16;
      put_scales(source(quad), group, at + index * 8, at + m.main_scales() * 8 + index * 4);
    } else {
      const int index = (group - kRounds * 16) * m.quads + quad;
      unsigned char* at = to + m.main_chunks() * m.main_bytes() + m.rest_words() * 16;
      put_scales(source(quad), group, at + index * 8, at + 2 * m.quads * 8 + index * 4);
    }
  }
}
template <class Weight>
__device__ void put_wide(unsigned char* to, const Weight& w, int octets, int first_octet, u64 expert = 0, u64 in = 0) {
  for (int i = int(threadIdx.x); i < octets * kQuads; i += int(blockDim.x)) {
    const int octet = i / kQuads, quad = i % kQuads;
    unsigned char* at = quad < kMainQuads ? to + (octet * kMainQuads + quad) * 16 : to + wide_main(octets) + ((quad - kMainQuads) * octets + octet) * 16;
    *reinterpret_cast<uint4*>(at) = pack_word(columns_of(w, kHidden, quad * 4, expert, in), first_octet + octet);
  }
}
template <class Weight>
__device__ void put_wide_scales(unsigned char* to, const Weight& w, int groups, u64 expert = 0, u64 in = 0) {
  for (int i = int(threadIdx.x); i < groups * kQuads; i += int(blockDim.x)) {
    const int group = i / kQuads, quad = i % kQuads;
    unsigned char* at = to + group * kWideScales;
    put_scales(columns_of(w, kHidden, quad * 4, expert, in), group, at + quad * 8, at + kQuads * 8 + quad * 4);
  }
}

template <class Weight>
__device__ void put_absorb(unsigned char* to, const Weight& kv_b, int head, int quarter) {
  constexpr int kWidthB = kHeads * 256, kSliceQuads = kLatents / 4;
  for (int i = int(threadIdx.x); i < 16 * kSliceQuads; i += int(blockDim.x)) {
    const int octet = i / kSliceQuads, quad = i % kSliceQuads;
    u32 words[4];
    for (int c = 0; c < 4; ++c) {
      const int latent = quarter * kLatents + quad * 4 + c;
      const unsigned char* row = kv_b.packed + u64(latent / 2) * kWidthB + head * 256 + octet * 8;
      words[c] = 0;
      for (int k = 0; k < 8; ++k) words[c] |= u32(row[k] >> (latent & 1) * 4 & 15) << 4 * k;
    }
    reinterpret_cast<uint4*>(to)[i] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  const int group = quarter * kLatents / kGroup;
  for (int k = int(threadIdx.x); k < 128; k += int(blockDim.x)) {
    const u64 from = u64(group) * kWidthB + head * 256 + k;
    reinterpret_cast<bf16*>(to + kLatents * 64)[k] = kv_b.scale[from];
    to[kLatents * 64 + 256 + k] = static_cast<unsigned char>(__bfloat162float(kv_b.zero[from]));
  }
}
template <class Weight>
__device__ void put_value(unsigned char* to, const Weight& kv_b, int head, int quarter) {
  constexpr int kWidthB = kHeads * 256;
  for (int i = int(threadIdx.x); i < kLatents * 4; i += int(blockDim.x))
    reinterpret_cast<uint4*>(to)[i] = pack_word(columns_of(kv_b, kWidthB, head * 256 + 128 + i % 32 * 4), quarter * kLatents / 8 + i / 32);
  for (int quad = int(threadIdx.x); quad < 32; quad += int(blockDim.x))
    put_scales(columns_of(kv_b, kWidthB, head * 256 + 128 + quad * 4), quarter * kLatents / kGroup, to + kLatents * 64 + quad * 8, to + kLatents * 64 + 256 + quad * 4);
}

}  // namespace

// The streams of one block and layer that do not depend on routing.
extern "C" __global__ void prepare_dense(const __grid_constant__ ol::PrepareArgs args) {
  const int layer = int(blockIdx.x) / kBlocks, b = int(blockIdx.x) % kBlocks, head = b / 4, quarter = b % 4;
  if (layer < kKdaLayers) {
    unsigned char* to = args.prepared + u64(layer * kBlocks + b) * kKdaBlock;
    const auto& kda = args.kda[layer];
    put_long(to, kProject, [&](int quad) {
      const auto& w = quad < 8 ? kda.q : quad < 16 ? kda.k : quad < 24 ? kda.v : kda.g;
      return columns_of(w, kWidth, head * 128 + quarter * 32 + quad % 8 * 4);
    });
    put_wide(to + kProject.bytes(), kda.o, 4, b * 4);
  } else {
    unsigned char* to = args.prepared + kAtMla + u64(b) * kMlaBlock;
    const auto& mla = args.mla[0];
    put_long(to, mla_long(b), [&](int quad) {
      if (quad < 12) return columns_of(mla.q, kHeads * 192, head * 192 + (quad < 8 ? quarter * 32 + quad * 4 : 128 + quarter * 16 + (quad - 8) * 4));
      return columns_of(mla.kv_a, kKey, (b * kKvQuads + quad - 12) * 4);
    });
    to += kMlaLong.bytes();
    put_absorb(to, mla.kv_b, head, quarter);
    put_value(to + kAbsorbBytes, mla.kv_b, head, quarter);
    put_wide(to + kAbsorbBytes + kValueBytes, mla.o, 4, b * 4);
  }
  const auto& moe = args.moe[layer];
  unsigned char* to = args.prepared + kAtShared + u64(layer * kBlocks + b) * kSharedBlock;
  put_long(to, kShared, [&](int quad) {
    return columns_of(quad < kSharedQuads / 2 ? moe.shared_gate : moe.shared_up, kInter, b * kSharedUnits + quad % (kSharedQuads / 2) * 4);
  });
  put_wide(to + kShared.bytes(), moe.shared_down, kSharedOctets, b * kSharedOctets);
}

extern "C" __global__ void prepare_experts(const __grid_constant__ ol::PrepareArgs args) {
  const u64 expert = blockIdx.x / kParts;  // of all layers
  const int part = int(blockIdx.x) % kParts, layer = int(expert) / kExperts, e = int(expert) % kExperts;
  const auto& moe = args.moe[layer];
  unsigned char* to = args.prepared + kAtExperts + (expert * kParts + part) * kExpertBlock;
  put_long(to, kRouted, [&](int quad) {
    return columns_of(quad < kRoutedQuads / 2 ? moe.gate : moe.up, kInter, part * kUnits + quad % (kRoutedQuads / 2) * 4, e, kHidden);
  });
  put_wide(to + kRouted.bytes(), moe.down, kUnitOctets, part * kUnitOctets, e, kInter);
}

extern "C" __global__ void prepare_scales(const __grid_constant__ ol::PrepareArgs args) {
  const int layer = int(blockIdx.x) / (kExperts + 2), which = int(blockIdx.x) % (kExperts + 2);
  const auto& moe = args.moe[layer];
  if (which < kExperts)
    put_wide_scales(args.prepared + kAtExpertScales + u64(layer * kExperts + which) * kDownScales, moe.down, kInter / kGroup, which, kInter);
  else if (which == kExperts)
    put_wide_scales(args.prepared + kAtSharedScales + layer * kDownScales, moe.shared_down, kInter / kGroup);
  else
    put_wide_scales(args.prepared + kAtOutScales + layer * kOutScales, layer < kKdaLayers ? args.kda[layer].o : args.mla[0].o, kWidth / kGroup);
}

// W_router diag(norm) W_o of the block's 32 rows of W_o, and W_router diag(norm) of its columns of the residual, in fp16:
// so that router logits are summed along with the attention projection, a grid-wide exchange earlier. 1/rms comes later.
extern "C" __global__ void prepare_router(const __grid_constant__ ol::PrepareArgs args) {
  constexpr int kTile = 64;
  __shared__ float out[32][kTile + 1], router[kExperts][kTile + 1];
  const int layer = int(blockIdx.x) / kBlocks, b = int(blockIdx.x) % kBlocks, t = int(threadIdx.x);
  const auto& moe = args.moe[layer];
  const auto& o = layer < kKdaLayers ? args.kda[layer].o : args.mla[0].o;
  const int expert = t / 4, part = t % 4;
  float sum[8] = {};
  for (int first = 0; first < kHidden; first += kTile) {
    for (int i = t; i < 32 * kTile; i += 256) {
      const int row = b * 32 + i / kTile, column = first + i % kTile, nibble = o.packed[u64(row / 2) * kHidden + column] >> (row & 1) * 4 & 15;
      const u64 group = u64(row / kGroup) * kHidden + column;
      out[i / kTile][i % kTile] = round_bf16((float(nibble) - __bfloat162float(o.zero[group])) * __bfloat162float(o.scale[group]));
    }
    for (int i = t; i < kExperts * kTile; i += 256) {
      const int column = first + i % kTile;
      router[i / kTile][i % kTile] = __bfloat162float(moe.router[u64(i / kTile) * kHidden + column]) * __bfloat162float(moe.norm[column]);
    }
    __syncthreads();
    if (expert < kExperts)
      for (int c = 0; c < kTile; ++c)
#pragma unroll
        for (int i = 0; i < 8; ++i) sum[i] = fmaf(router[expert][c], out[part * 8 + i][c], sum[i]);
    __syncthreads();
  }
  if (expert >= kExperts) return;
  __half* to = reinterpret_cast<__half*>(args.prepared + kAtRouter + (u64(blockIdx.x) * kExperts + expert) * 128);
  for (int i = 0; i < 8; ++i) {
    const int row = part * 8 + i;
    to[row / 4 * 8 + row % 4] = __float2half_rn(sum[i]);
  }
  for (int p = part * 2; p < part * 2 + 2; ++p)
    for (int i = 0; i < 4; ++i) {
      const int column = p + 8 * i, at = b * kColumns + column;
      to[p * 8 + 4 + i] = __float2half_rn(column < kColumns ? __bfloat162float(moe.router[u64(expert) * kHidden + at]) * __bfloat162float(moe.norm[at]) : 0.0f);
    }
}

extern "C" __global__ void __launch_bounds__(kBlock, 1) megakernel(const __grid_constant__ ol::Args args) {
  extern __shared__ __align__(128) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory + SLOTS * kSlotBytes);
  if (threadIdx.x == 0) {
    for (int i = 0; i < SLOTS; ++i) {
      barrier_init(shared_address(&s.full[i]), 1);
      barrier_init(shared_address(&s.empty[i]), kWarps);
    }
    barrier_init(shared_address(&s.go), 1);
    s.exchanging = 0;
    s.exchanged = 0;
#if COPY
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  __syncthreads();
  if (warp_id() == kWarps) produce(args, memory, s);
  else consume(args, memory, s);
}
