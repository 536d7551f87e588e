#include "sandbox/worker/shims.h"

namespace onelaunch::worker {
namespace {

constexpr const char* kPrelude = R"(#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef long long int64_t; typedef unsigned long long uint64_t; typedef int64_t intptr_t; typedef uint64_t uintptr_t;
typedef int64_t intmax_t; typedef uint64_t uintmax_t;
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX UINT64_MAX
#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000u))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7fffffffu))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF (__builtin_bit_cast(float, 0x7f800000u))
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#endif
)";

constexpr const char* kNothing = "#pragma once\n";

constexpr const char* kCstdint = R"(#pragma once
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t; using ::intmax_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using ::uintmax_t;
}
)";

constexpr const char* kCstddef = R"(#pragma once
typedef long ptrdiff_t;
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
namespace std { using ::size_t; using ::ptrdiff_t; using nullptr_t = decltype(nullptr); }
)";

constexpr const char* kCfloat = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209290e-7f
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
)";

constexpr const char* kCmath = R"(#pragma once
namespace std {
using ::abs; using ::fabs; using ::fmin; using ::fmax; using ::fma; using ::sqrt; using ::exp; using ::exp2; using ::log;
using ::log2; using ::log1p; using ::pow; using ::sin; using ::cos; using ::tanh; using ::floor; using ::ceil; using ::round;
using ::rint; using ::trunc; using ::sqrtf; using ::expf; using ::exp2f; using ::logf; using ::log2f; using ::log1pf;
using ::powf; using ::sinf; using ::cosf; using ::tanhf; using ::fmaf; using ::fminf; using ::fmaxf; using ::fabsf;
using ::isnan; using ::isinf; using ::isfinite;
}
)";

constexpr const char* kCstring = R"(#pragma once
namespace std { using ::memcpy; using ::memset; }
)";

constexpr const char* kCstdio = R"(#pragma once
namespace std { using ::printf; }
)";

constexpr const char* kAlgorithm = R"(#pragma once
namespace std {
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high) { return x < low ? low : high < x ? high : x; }
}
)";

// CUDA's own libcu++ stands in for the rest of the standard library.
#define ONELAUNCH_CCCL(header) "#pragma once\n#include <cuda/std/" header ">\nnamespace std { using namespace cuda::std; }\n"

constexpr Shim kShims[] = {
    {kPreludeName, kPrelude},
    {"cstdint", kCstdint}, {"stdint.h", kCstdint}, {"inttypes.h", kCstdint}, {"cinttypes", kCstdint},
    {"cstddef", kCstddef}, {"stddef.h", kCstddef},
    {"climits", kNothing}, {"limits.h", kNothing}, {"cfloat", kCfloat}, {"float.h", kCfloat},
    {"cmath", kCmath}, {"math.h", kCmath},
    {"cstring", kCstring}, {"string.h", kCstring}, {"cstdio", kCstdio}, {"stdio.h", kCstdio},
    {"cassert", kNothing}, {"assert.h", kNothing}, {"cstdlib", kNothing}, {"stdlib.h", kNothing},
    {"cuda_runtime.h", kNothing}, {"cuda_runtime_api.h", kNothing}, {"cuda.h", kNothing},
    {"device_launch_parameters.h", kNothing}, {"device_functions.h", kNothing},
    {"type_traits", ONELAUNCH_CCCL("type_traits")}, {"limits", ONELAUNCH_CCCL("limits")},
    {"array", ONELAUNCH_CCCL("array")}, {"utility", ONELAUNCH_CCCL("utility")}, {"tuple", ONELAUNCH_CCCL("tuple")},
    {"bit", ONELAUNCH_CCCL("bit")}, {"algorithm", kAlgorithm},
    {"functional", ONELAUNCH_CCCL("functional")}, {"concepts", ONELAUNCH_CCCL("concepts")},
    {"initializer_list", ONELAUNCH_CCCL("initializer_list")}, {"numeric", ONELAUNCH_CCCL("numeric")},
};

}  // namespace

std::span<const Shim> shims() { return kShims; }

}  // namespace onelaunch::worker
