#pragma once
// Instructions with what they must give: an independent formula for one thread, and which conformance test of the
// opcode table they belong to.

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace onelaunch::emu::bench {

using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// From the source words of one thread to the word of the first destination.
using Formula = std::function<u64(const u64* s)>;

struct Case {
  std::string test;         // OpcodeRow::test
  std::string instruction;
  Formula formula;          // may be empty: then only the recorded GPU words judge it
  double ulps = 0;          // an approximation on the GPU: not recorded
  Formula second;           // of the second destination
};

std::vector<Case> integer_cases();
std::vector<Case> bit_cases();
std::vector<Case> float_cases();
std::vector<Case> double_cases();
std::vector<Case> half_cases();
std::vector<Case> compare_cases();
std::vector<Case> convert_cases();
std::vector<Case> move_cases();
std::vector<Case> warp_cases();      // without formulas: lanes depend on one another
std::vector<Case> matrix_cases();
std::vector<Case> all_cases();

inline float f32_of(u64 word) { return std::bit_cast<float>(static_cast<u32>(word)); }
inline double f64_of(u64 word) { return std::bit_cast<double>(word); }
inline u64 word_of(float value) { return std::isnan(value) ? 0x7fffffffu : std::bit_cast<u32>(value); }
inline u64 word_of(double value) { return std::isnan(value) ? 0xfff8000000000000u : std::bit_cast<u64>(value); }

// The value of a 16-bit float, and the nearest one to an exact value: by searching the codes.
double half_value(u64 code, bool bf16);
u64 nearest_half(double exact, bool bf16);

}  // namespace onelaunch::emu::bench
