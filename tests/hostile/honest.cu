// Slow and right: what the hostile kernels here deviate from.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1)
HONEST_ROW
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  args.y[threadIdx.x] = honest_row(args, threadIdx.x);
}
