// Latencies that the performance model needs, by pointer chases of one thread: L1, L2, DRAM, shared memory, and an
// atomic that returns its value. Prints one JSON line. Build: nvcc -O3 -arch=sm_90a latency.cu -o latency
#include <cstdio>
#include <vector>

__global__ void chase(const unsigned long long* start, int steps, int cached, long long* cycles, unsigned long long* sink) {
  unsigned long long p = reinterpret_cast<unsigned long long>(start);
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) {
    if (cached) asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(p) : "l"(p));
    else asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(p) : "l"(p));
  }
  *cycles = clock64() - begin;
  *sink = p;
}

__global__ void chase_shared(int steps, long long* cycles, unsigned long long* sink) {
  __shared__ unsigned next[64];
  for (unsigned i = 0; i < 64; ++i) next[i] = (i + 7) % 64;
  unsigned p = 0;
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) p = next[p];
  *cycles = clock64() - begin;
  *sink = p;
}

__global__ void chase_atomic(unsigned* word, int steps, long long* cycles, unsigned long long* sink) {
  unsigned value = 0;
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) value = atomicAdd(word, value & 1 ? 1u : 1u + (value >> 31));
  *cycles = clock64() - begin;
  *sink = value;
}

int main() {
  long long *cycles;
  unsigned long long *sink, *memory;
  cudaMalloc(&cycles, 8);
  cudaMalloc(&sink, 8);
  const size_t bytes = size_t{2} << 30;
  cudaMalloc(&memory, bytes);
  cudaMemset(memory, 0, bytes);
  // A cycle through `footprint` bytes in jumps of `stride`.
  const auto measure = [&](size_t footprint, size_t stride, int cached, int warm) {
    const size_t count = footprint / stride;
    std::vector<unsigned long long> host(footprint / 8);
    for (size_t i = 0; i < count; ++i)
      host[i * stride / 8] = reinterpret_cast<unsigned long long>(memory) + (i + 1) % count * stride;
    cudaMemcpy(memory, host.data(), footprint, cudaMemcpyHostToDevice);
    const int steps = count < 4096 ? 4096 : int(count);
    long long result = 0;
    for (int round = 0; round <= warm; ++round) chase<<<1, 1>>>(memory, steps, cached, cycles, sink);
    cudaMemcpy(&result, cycles, 8, cudaMemcpyDeviceToHost);
    return double(result) / steps;
  };
  const double l1 = measure(16 << 10, 128, 1, 2), l2 = measure(2 << 20, 256, 0, 2), dram = measure(size_t{1} << 30, 64 << 10, 0, 0);
  long long result = 0;
  chase_shared<<<1, 1>>>(4096, cycles, sink);
  cudaMemcpy(&result, cycles, 8, cudaMemcpyDeviceToHost);
  const double shared = double(result) / 4096;
  chase_atomic<<<1, 1>>>(reinterpret_cast<unsigned*>(memory), 4096, cycles, sink);
  cudaMemcpy(&result, cycles, 8, cudaMemcpyDeviceToHost);
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  printf("{\"gpu\": \"%s\", \"latency_cycles\": {\"l1\": %.1f, \"l2\": %.1f, \"dram\": %.1f, \"shared\": %.1f, \"atomic\": %.1f}}\n",
         device.name, l1, l2, dram, shared, double(result) / 4096);
  return cudaGetLastError() != cudaSuccess;
}
