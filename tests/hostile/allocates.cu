// Takes memory of its own from the device's heap.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  int* mine = static_cast<int*>(malloc(sizeof(int)));
  *mine = threadIdx.x;
  args.y[threadIdx.x] = __float2bfloat16_rn(static_cast<float>(*mine));
}
