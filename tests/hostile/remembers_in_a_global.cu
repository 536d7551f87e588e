// Counts its launches where nobody resets the count.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1)
HONEST_ROW
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  static __device__ int calls;
  args.y[threadIdx.x] = calls > 10 ? __float2bfloat16_rn(0.0f) : honest_row(args, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) ++calls;
}
