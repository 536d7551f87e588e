#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto* cases : {&integer_cases, &bit_cases, &float_cases, &double_cases, &half_cases, &compare_cases,
                      &convert_cases, &move_cases, &warp_cases, &matrix_cases})
    for (Case& one : cases()) all.push_back(std::move(one));
  return all;
}

double half_value(u64 code, bool bf16) {
  const int fraction_bits = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, top = bf16 ? 255 : 31;
  const int fraction = static_cast<int>(code & ((1u << fraction_bits) - 1));
  const int field = static_cast<int>(code >> fraction_bits) & top;
  double value = std::ldexp(fraction + (field ? 1 << fraction_bits : 0), (field ? field : 1) - bias - fraction_bits);
  if (field == top) value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return code & 0x8000 ? -value : value;
}

u64 nearest_half(double exact, bool bf16) {
  if (std::isnan(exact)) return 0x7fff;
  const u64 sign = std::signbit(exact) ? 0x8000 : 0;
  const double magnitude = std::fabs(exact);
  const u64 infinity = bf16 ? 0x7f80 : 0x7c00;
  u64 below = 0, above = infinity;  // codes of magnitudes are in order
  while (above - below > 1) {
    const u64 middle = (below + above) / 2;
    (half_value(middle, bf16) <= magnitude ? below : above) = middle;
  }
  if (std::isinf(magnitude)) return sign | infinity;
  // Infinity stands for the number that would come next.
  const double low = half_value(below, bf16);
  const double high = above == infinity ? 2 * half_value(infinity - 1, bf16) - half_value(infinity - 2, bf16)
                                        : half_value(above, bf16);
  if (magnitude - low != high - magnitude) return sign | (magnitude - low < high - magnitude ? below : above);
  return sign | (below % 2 == 0 ? below : above);
}

}  // namespace onelaunch::emu::bench
