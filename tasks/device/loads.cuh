namespace ol {

// 16 bytes that this launch reads once and nobody writes: a weight. Does not displace what the caches hold.
// The address is a multiple of 16.
__device__ inline uint4 load_stream(const void* address) {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  uint4 value;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
      : "l"(address), "l"(policy));
  return value;
}

// 16 bytes that other blocks may have written earlier in this launch, read from the second-level cache.
__device__ inline uint4 load_shared_by_blocks(const void* address) { return __ldcg(static_cast<const uint4*>(address)); }

}  // namespace ol
