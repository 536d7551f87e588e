#pragma once
// Included after every other header by the files of row functions. The build gives OL_OPS_LEVEL, the namespace, and
// OL_OPS_AVX2. The target is a pragma, not a compiler option, so that inline functions of the headers above, which
// the linker shares between levels, keep the base instruction set.

#if OL_OPS_AVX2
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,movbe")
#else
#pragma GCC target("sse4.2,ssse3,popcnt")
#endif
