// Right, but writes where only prepare kernels may.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 1, .prepared_bytes = 1024)
HONEST_ROW
extern "C" __global__ void fill(const __grid_constant__ ol::PrepareArgs args) { args.prepared[threadIdx.x] = 1; }
OL_PREPARE(fill, .grid = 1, .block = 1024)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  const_cast<unsigned char*>(args.prepared)[threadIdx.x] = 2;
  args.y[threadIdx.x] = honest_row(args, threadIdx.x);
}
