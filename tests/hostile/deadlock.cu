// One block never comes to the barrier.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 64, .grid = 4, .sync_bytes = ol::kBarrierBytes)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  if (blockIdx.x != 2) ol::grid_barrier(args);
}
