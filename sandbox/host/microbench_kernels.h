#pragma once
// The kernels that find a device's ceilings: how fast memory streams, what a grid barrier and an empty launch take.

#include <string>

namespace onelaunch::sandbox {

constexpr const char* kMicrobenchModule = "microbench";

// Reads: (const uint4* data, u64 words, u32 rounds, u32 slots, u32* sink); each adds the sum of all that it read, 32-bit
// words modulo 2^32, to *sink. `slots` is for the ring only.
constexpr const char* kReadPlain = "ol_bench_read_plain";              // 16-byte loads
constexpr const char* kReadEvictFirst = "ol_bench_read_evict_first";   // 16-byte loads that neither cache is to keep
constexpr const char* kReadRing = "ol_bench_read_ring";                // bulk copies into shared memory, from sm_90 on
constexpr unsigned kReadBlock = 512, kReadBlocksPerSm = 2;             // of the loads
constexpr unsigned kRingBlock = 512 + 32, kRingSlotBytes = 16 << 10, kRingSlotsMax = 11;  // one block per SM
constexpr const char* kFillData = "ol_bench_fill";                     // (uint4* data, u64 words): noise
constexpr const char* kBarriers = "ol_bench_barriers";                 // (sync, u32 count): barriers of a cooperative grid
constexpr const char* kNothing = "ol_bench_nothing";                   // (sync)
constexpr unsigned kBarrierBlock = 512;

// CUDA C++ for sm_80 and newer.
std::string microbench_source();

}  // namespace onelaunch::sandbox
