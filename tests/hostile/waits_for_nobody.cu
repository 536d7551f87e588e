// Waits for a flag that nobody sets.
#include <onelaunch.cuh>
OL_LAUNCH(.block = 64, .grid = 2, .sync_bytes = 256)
extern "C" __global__ void megakernel(const __grid_constant__ ol::Args args) {
  volatile unsigned* flag = reinterpret_cast<volatile unsigned*>(args.sync);
  while (*flag == 0) {}
}
