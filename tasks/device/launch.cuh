// What a candidate declares. The harness reads the constants back from the compiled module, so that any constant
// expression over dims and tunables will do.
namespace ol {

using bf16 = __nv_bfloat16;

struct LaunchDeclaration {
  unsigned long long block = 0;           // threads a block
  unsigned long long grid = 0;            // blocks, or per_sm(n)
  unsigned long long dynamic_smem = 0;    // bytes
  unsigned long long cluster = 1;         // blocks a cluster
  unsigned long long sync_bytes = 0;      // of Args::sync, at most 1 MiB
  unsigned long long scratch_bytes = 0;   // of Args::scratch
  unsigned long long prepared_bytes = 0;  // of Args::prepared
  unsigned long long reserved = 0;
};

struct PrepareShape {
  unsigned long long grid = 1, block = 256, dynamic_smem = 0;
};
struct PrepareDeclaration {
  unsigned long long order, block, grid, dynamic_smem;
};
__host__ __device__ constexpr PrepareDeclaration declare_prepare(unsigned long long order, PrepareShape shape) {
  return {order, shape.block, shape.grid, shape.dynamic_smem};
}

// A grid of n blocks for every multiprocessor.
__host__ __device__ constexpr unsigned long long per_sm(unsigned n) { return (1ull << 32) | n; }

}  // namespace ol

// OL_TUNABLE(NAME, default, v1, v2, ...): the harness passes -DNAME=value.
#define OL_TUNABLE(...)

// OL_LAUNCH(.block = , .grid = , .dynamic_smem = , .cluster = , .sync_bytes = , .scratch_bytes = , .prepared_bytes = ):
// in this order; what is left out is 0 (cluster: 1).
#define OL_LAUNCH(...) \
  extern "C" __attribute__((used)) __constant__ const ::ol::LaunchDeclaration ol_launch = {__VA_ARGS__};

// OL_PREPARE(kernel, .grid = , .block = , .dynamic_smem = ): in this order; kernels run in the order of their lines.
#define OL_PREPARE(kernel, ...)                                                                  \
  extern "C" __attribute__((used)) __constant__ const ::ol::PrepareDeclaration ol_prepare_##kernel = \
      ::ol::declare_prepare(__LINE__, ::ol::PrepareShape{__VA_ARGS__});

// OL_PHASE("name"): a phase begins here. OL_PROBE("layer.0.h", pointer, n): n values of that result, to be compared.
// Both do something in builds of their own only (onelaunch profile); nothing otherwise.
#ifndef OL_PHASE
#define OL_PHASE(...)
#endif
#ifndef OL_PROBE
#define OL_PROBE(...)
#endif
#ifndef OL_STAMP
#define OL_STAMP(...)
#endif

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
