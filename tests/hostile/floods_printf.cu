// Talks without end, and writes nothing.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 256, .grid = 8)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  for (int i = 0; i < 100; ++i) printf("block %d thread %d line %d: all work and no play makes a dull kernel\n", blockIdx.x, threadIdx.x, i);
}
