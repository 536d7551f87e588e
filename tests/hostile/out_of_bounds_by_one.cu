// Right, and one element too many.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 288, .grid = 1)
HONEST_ROW
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  if (threadIdx.x < 256) args.y[threadIdx.x] = honest_row(args, threadIdx.x);
  if (threadIdx.x == 256) args.y[256] = __float2bfloat16_rn(1.0f);
}
