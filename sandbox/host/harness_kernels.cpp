#include "sandbox/host/harness_kernels.h"

namespace onelaunch::sandbox {

std::string harness_source() {
  return R"cuda(
extern "C" __global__ void ol_gate(const volatile unsigned* flag, unsigned long long timeout_ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (*flag == 0 && now - start < timeout_ns);
}

extern "C" __global__ void ol_sweep(uint4* data, unsigned long long count) {
  unsigned seen = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (unsigned long long)blockDim.x) {
    const uint4 word = data[i];
    seen |= word.x | word.y | word.z | word.w;
  }
  if (seen == 1) data[0].x = 0;  // never: the buffer holds zeros; it keeps the loads
}
)cuda";
}

}  // namespace onelaunch::sandbox
