// Adds to what it takes for zeros.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1, .scratch_bytes = 1024)
HONEST_ROW
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  float* sums = reinterpret_cast<float*>(args.scratch);
  sums[threadIdx.x] += __bfloat162float(honest_row(args, threadIdx.x));
  args.y[threadIdx.x] = __float2bfloat16_rn(sums[threadIdx.x]);
  sums[threadIdx.x] = 0;
}
