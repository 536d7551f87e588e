#pragma once
// The asynchronous instructions as a kernel writes them, for the sources of these tests.

#include <string>

namespace onelaunch::emu {

inline const std::string kDeviceCode = R"(
typedef unsigned u32; typedef unsigned long long u64;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void init(void* b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void arrive(void* b) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(at(b)) : "memory"); }
__device__ void expect(void* b, u32 n) { asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ bool test(void* b, u32 parity) {
  u32 ok;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at(b)), "r"(parity) : "memory");
  return ok;
}
__device__ void wait(void* b, u32 parity) {
  asm volatile("{ .reg .pred P; AGAIN: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 P, [%0], %1, 10000000; @P bra DONE; bra AGAIN; DONE: }" :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void load(void* to, const void* from, u32 bytes, void* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
__device__ void store(void* to, const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(at(from)), "r"(bytes) : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ u32 rank() { u32 r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ u32 map(const void* p, u32 r) { u32 a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(r)); return a; }
__device__ void cluster_sync() { asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
)";

}  // namespace onelaunch::emu
