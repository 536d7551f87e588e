// Works for ever and reads nothing that could change.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 64, .grid = 2)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  unsigned x = threadIdx.x;
  while (true) asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(x));
}
