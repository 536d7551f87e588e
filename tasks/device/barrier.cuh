namespace ol {

// The first bytes of Args::sync belong to grid_barrier(); a kernel that uses it asks for at least this many.
constexpr unsigned long long kBarrierBytes = 256;
constexpr unsigned kSpinsMax = 1u << 24;  // polls before a barrier gives up, some ten seconds

// All threads of all blocks meet here; what any of them wrote before, every one of them sees afterwards. The counter
// only grows, from launch to launch too: each barrier adds one per block.
__device__ inline void grid_barrier(const Args& args) {
  __syncthreads();
  OL_STAMP(arrive);
  if (threadIdx.x == 0) {
    unsigned long long* counter = reinterpret_cast<unsigned long long*>(args.sync);
    unsigned long long arrived, seen;
    asm volatile("atom.add.release.gpu.global.u64 %0, [%1], 1;" : "=l"(arrived) : "l"(counter) : "memory");
    const unsigned long long target = (arrived / gridDim.x + 1) * gridDim.x;
    unsigned spins = 0;
    while (true) {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(counter) : "memory");
      if (seen >= target) break;
      if (++spins == kSpinsMax) __trap();
    }
  }
  __syncthreads();
  OL_STAMP(released);
}

}  // namespace ol
