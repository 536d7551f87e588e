#include "sandbox/host/microbench_kernels.h"

#include "tasks/header_text.h"

namespace onelaunch::sandbox {
namespace {

// Every round reads all words; a block's part of them moves from round to round, so that its L1 is no help.
constexpr const char* kLoads = R"cuda(
typedef unsigned u32;
typedef unsigned long long u64;

__device__ inline u32 sum_of(uint4 word) { return word.x + word.y + word.z + word.w; }

__device__ inline u32 part_of_round(u32 round) { return (blockIdx.x + 37u * round) % gridDim.x; }

__device__ inline void add_to(u32* sink, u32 sum) {
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sink, sum);
}

__device__ inline uint4 load_plain(const uint4* word, u64) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(word));
  return v;
}

__device__ inline uint4 load_evict_first(const uint4* word, u64 policy) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(word), "l"(policy));
  return v;
}

__device__ inline u64 evict_first() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

template <uint4 (*load)(const uint4*, u64)>
__device__ inline void read_all(const uint4* data, u64 words, u32 rounds, u32* sink, u64 policy) {
  constexpr int kInFlight = 8;
  const u64 stride = gridDim.x * (u64)blockDim.x;
  u32 sum = 0;
  for (u32 round = 0; round < rounds; ++round) {
    u64 i = part_of_round(round) * (u64)blockDim.x + threadIdx.x;
    for (; i + (kInFlight - 1) * stride < words; i += kInFlight * stride) {
      uint4 v[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) v[j] = load(data + i + j * stride, policy);
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) sum += sum_of(v[j]);
    }
    for (; i < words; i += stride) sum += sum_of(load(data + i, policy));
  }
  add_to(sink, sum);
}

extern "C" __global__ void __launch_bounds__(512, 2)
ol_bench_read_plain(const uint4* data, u64 words, u32 rounds, u32, u32* sink) {
  read_all<load_plain>(data, words, rounds, sink, 0);
}

extern "C" __global__ void __launch_bounds__(512, 2)
ol_bench_read_evict_first(const uint4* data, u64 words, u32 rounds, u32, u32* sink) {
  read_all<load_evict_first>(data, words, rounds, sink, evict_first());
}

extern "C" __global__ void ol_bench_fill(uint4* data, u64 words) {
  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < words; i += gridDim.x * (u64)blockDim.x) {
    u32 x = (u32)i * 2654435761u + (u32)(i >> 32) + 12345u;
    uint4 v;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5, v.x = x;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5, v.y = x;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5, v.z = x;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5, v.w = x;
    data[i] = v;
  }
}

extern "C" __global__ void __launch_bounds__(512, 2) ol_bench_barriers(unsigned char* sync, u32 count) {
  ol::Args args;
  args.sync = sync;
  for (u32 i = 0; i < count; ++i) ol::grid_barrier(args);
}

extern "C" __global__ void __launch_bounds__(512, 2) ol_bench_nothing(unsigned char*) {}
)cuda";

// One lane keeps `slots` bulk copies of 16 KiB in flight; sixteen warps add up what arrives.
constexpr const char* kRing = R"cuda(
#if __CUDA_ARCH__ >= 900
__device__ inline u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ inline void wait_for(u32 barrier, u32 parity) {
  u32 done = 0;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
}

__device__ inline void copy_tile(u32 slot, const char* from, u32 bytes, u32 barrier, u64 policy) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
               ::"r"(slot), "l"(from), "r"(bytes), "r"(barrier), "l"(policy) : "memory");
}

extern "C" __global__ void __launch_bounds__(544, 1)
ol_bench_read_ring(const uint4* data, u64 words, u32 rounds, u32 slots, u32* sink) {
  constexpr u32 kSlotBytes = 16384, kSlotsMax = 11, kReaders = 512;
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ u64 full[kSlotsMax], empty[kSlotsMax];
  if (threadIdx.x == 0)
    for (u32 i = 0; i < slots; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 16;" ::"r"(shared_address(&empty[i])) : "memory");
    }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const u64 tiles = words * 16 / kSlotBytes;
  const bool producer = threadIdx.x == kReaders;
  if (threadIdx.x > kReaders) return;
  const u64 policy = evict_first();
  u32 slot = 0, turn = 0, sum = 0;
  for (u32 round = 0; round < rounds; ++round)
    for (u64 tile = part_of_round(round); tile < tiles; tile += gridDim.x) {
      const u32 filled = shared_address(&full[slot]), emptied = shared_address(&empty[slot]);
      if (producer) {
        wait_for(emptied, turn ^ 1);
        copy_tile(shared_address(ring + slot * kSlotBytes), (const char*)data + tile * kSlotBytes, kSlotBytes, filled, policy);
      } else {
        wait_for(filled, turn);
        const uint4* words_of_slot = (const uint4*)(ring + slot * kSlotBytes);
        sum += sum_of(words_of_slot[threadIdx.x]) + sum_of(words_of_slot[threadIdx.x + kReaders]);
        __syncwarp();
        if (threadIdx.x % 32 == 0)
          asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(emptied) : "memory");
      }
      if (++slot == slots) slot = 0, turn ^= 1;
    }
  if (!producer) add_to(sink, sum);
}
#endif
)cuda";

}  // namespace

std::string microbench_source() {
  // The barrier is the one that candidates use; it wants nothing of the arguments but this.
  return std::string("#define OL_STAMP(...)\nnamespace ol {\nstruct Args {\n  unsigned char* sync;\n};\n}  // namespace ol\n") +
         tasks::k_barrier +
         kLoads + kRing;
}

}  // namespace onelaunch::sandbox
