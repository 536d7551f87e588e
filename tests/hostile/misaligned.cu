// A 16-byte load from an address that is none.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 32, .grid = 1)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  const uint4 words = *reinterpret_cast<const uint4*>(args.w + threadIdx.x + 1);
  args.y[threadIdx.x] = __float2bfloat16_rn(static_cast<float>(words.x));
}
