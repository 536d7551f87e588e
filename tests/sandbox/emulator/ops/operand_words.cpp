#include "tests/sandbox/emulator/ops/operand_words.h"

#include <iterator>

namespace onelaunch::emu::bench {
namespace {

using u64 = std::uint64_t;

constexpr u64 kWords[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x40490fdb,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7fa00001, 0x7fffffff, 0xffffffff,
    0x0000001f, 0x00000020, 0x00000021, 0x000000ff, 0x3f800001, 0x33800000, 0x4b000001, 0x4effffff, 0x4f000000,
    0xcf000000, 0x4f7fffff, 0x4f800000, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x3c00bc00, 0x7c00fc00,
    0x7e01fe01, 0x00010001, 0x040083ff, 0x7bfffbff, 0x3f80bf80, 0x7f80ff80, 0x7fc17fff, 0x0080807f, 0x00003210,
    0x0000fb51, 0x00007632, 0x8040c020, 0x00000008, 0x00001000, 0x7e900000, 0x38000001, 0x477fefff, 0x477ff000,
    0x00001f10, 0x0000070f, 0x3f7fffff, 0x3f7ffffe, 0x00800001,
};

constexpr u64 kDoubleWords[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x400921fb54442d18, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000001234,
    0x7ff4000000000001, 0x7fffffffffffffff, 0xffffffffffffffff, 0x000000000000001f, 0x0000000000000040,
    0x00000000000000ff, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff80000000, 0x000000007fffffff,
    0x3fe0000000000000, 0x4004000000000000, 0xc004000000000000, 0x41dfffffffc00000, 0x41e0000000000000,
    0x41efffffffe00000, 0x41f0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
    0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000, 0x3e60000010000000,
    0x3c003c00bc007bff, 0x0123456789abcdef, 0x0020000000000001, 0x001fffffffffffff, 0x8000000000000001,
};

constexpr u64 kHalfWords[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x3800, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0xfe01, 0x7fff, 0xffff, 0x3f80, 0xbf80, 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0,
    0x7f81, 0x0080, 0x007f, 0x001f, 0x0020, 0x0010, 0x000f, 0x00ff, 0x4100, 0xc100, 0x4020, 0x5640, 0x7e7e,
};

constexpr u64 kBits[] = {0, 1};

std::span<const u64> edges(char kind) {
  switch (kind) {
    case 'd': return kDoubleWords;
    case 'h': return kHalfWords;
    case 'p': return kBits;
    default: return kWords;
  }
}

// SplitMix64.
u64 mixed(u64 x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Any bits, or a float near one, so that sums cancel and products do not overflow.
u64 drawn(char kind, u64 seed) {
  const u64 bits = mixed(seed);
  const bool near_one = mixed(seed ^ 0x5555) & 1;
  if (kind == 'd') return near_one ? (bits & 0x803fffffffffffff) | 0x3fc0000000000000 : bits;
  if (kind == 'p') return bits & 1;
  if (kind == 'h') return near_one ? (bits & 0x87ff) | 0x3800 : bits & 0xffff;
  const u64 word = bits & 0xffffffff;
  return near_one ? (word & 0x83ffffff) | 0x3c000000 : word;
}

u64 value(char kind, std::size_t source, std::size_t thread, std::size_t pairs, std::size_t first_count) {
  const std::span<const u64> pool = edges(kind);
  const u64 seed = thread * 8 + source;
  if (thread >= pairs) return drawn(kind, seed);
  if (source == 0) return pool[thread % first_count];
  if (source == 1) return pool[thread / first_count % pool.size()];
  return mixed(seed ^ 0xabcd) & 1 ? pool[mixed(seed) % pool.size()] : drawn(kind, seed);
}

// Floats for mma: `exponent_bits` and `fraction_bits` say the format. Each warp has its own kind of numbers.
struct MatrixFormat {
  int exponent_bits, fraction_bits;
};

u64 matrix_number(const MatrixFormat& format, std::size_t warp, u64 seed) {
  const u64 bits = mixed(seed), top = (u64{1} << format.exponent_bits) - 1, middle = top / 2;
  const u64 sign = (bits >> 40 & 1) << (format.exponent_bits + format.fraction_bits);
  const u64 fraction = bits & ((u64{1} << format.fraction_bits) - 1);
  const u64 spread = 1 + warp % 21, step = (bits >> 41) % spread;
  const bool wide = format.exponent_bits == 8;
  u64 field = middle - spread / 2 + step;
  if (!wide && field > 28) field = 28;
  switch (warp % 8) {
    case 4: if ((bits >> 50) % 3 == 0) return sign; break;                       // zeros among them
    case 5: field = wide ? middle + 56 + (bits >> 41) % 9 : top - 1 - step % 3; break;  // sums overflow
    case 6: field = wide ? middle - 58 - (bits >> 41) % 16 : 1 + (bits >> 41) % 3; break;  // results are subnormal
    case 7:
      if ((bits >> 50) % 64 == 0) return sign | top << format.fraction_bits | ((bits >> 57) % 4 ? 0 : fraction);
      if (warp % 16 == 7) field = (bits >> 41) % 3;                              // subnormal inputs
      break;
    default: break;
  }
  return sign | field << format.fraction_bits | fraction;
}

u64 matrix_sum(std::size_t warp, u64 seed) {
  const u64 bits = mixed(seed);
  u64 word = (bits & 0x80ffffff) + (0x3e000000 - ((warp % 21) << 22)) + (bits >> 41 & 0x7) * 0x800000;
  if (warp % 8 == 4 && (bits >> 50) % 3 == 0) word = bits & 0x80000000;
  if (warp % 8 == 5) word = (bits & 0x80ffffff) | 0x7e000000;
  if (warp % 8 == 6) word = (bits & 0x80ffffff) | ((bits >> 52) % 3) << 23;
  if (warp % 8 == 7 && (bits >> 50) % 64 == 0) word = (bits & 0x80000000) | 0x7f800000 | ((bits >> 57) % 4 ? 0 : 0x400001);
  return word & 0xffffffff;
}

// a and b come before the four registers of c.
u64 matrix_word(const std::string& text, bool is_sum, std::size_t warp, u64 seed) {
  if (text.find(".s32") != std::string::npos) return mixed(seed) & 0xffffffff;
  if (is_sum) return matrix_sum(warp, seed);
  if (text.find(".tf32") != std::string::npos)
    return matrix_number({8, 10}, warp, seed) << 13 | (mixed(seed ^ 1) & 0x1fff);
  const MatrixFormat format = text.find(".bf16") != std::string::npos ? MatrixFormat{8, 7} : MatrixFormat{5, 10};
  return matrix_number(format, warp, seed) | matrix_number(format, warp, seed ^ 0x1234567) << 16;
}

WarpWords matrix_words(const Instruction& instruction) {
  const std::size_t sources = instruction.sources();
  WarpWords words(sources, std::vector<u64>(kThreads));
  for (std::size_t source = 0; source < sources; ++source)
    for (std::size_t thread = 0; thread < kThreads; ++thread)
      words[source][thread] =
          matrix_word(instruction.text(), source + 4 >= sources, thread / 32, (thread * 16 + source) * 977);
  return words;
}

}  // namespace

WarpWords operand_words(const Instruction& instruction) {
  if (instruction.opcode() == "mma") return matrix_words(instruction);
  std::vector<char> kinds;
  for (const Placeholder& placeholder : instruction.placeholders())
    if (!placeholder.destination) kinds.push_back(placeholder.kind);
  const std::size_t first = kinds.empty() ? 1 : edges(kinds[0]).size();
  const std::size_t second = kinds.size() < 2 ? 1 : edges(kinds[1]).size();
  WarpWords words(kinds.size(), std::vector<u64>(kThreads));
  for (std::size_t source = 0; source < kinds.size(); ++source)
    for (std::size_t thread = 0; thread < kThreads; ++thread)
      words[source][thread] = value(kinds[source], source, thread, first * second, first);
  return words;
}

WarpWords warp_of(const WarpWords& words, std::size_t warp) {
  WarpWords result;
  for (const std::vector<u64>& lanes : words)
    result.emplace_back(lanes.begin() + static_cast<std::ptrdiff_t>(32 * warp),
                        lanes.begin() + static_cast<std::ptrdiff_t>(32 * warp + 32));
  return result;
}

}  // namespace onelaunch::emu::bench
