#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

struct Bits {
  std::string name;
  int width;
  std::string register_text;
  u64 cut(u64 word) const { return width == 64 ? word : word & ((u64{1} << width) - 1); }
  u64 amount(u64 word) const { return word & (width == 64 ? 0xffffffff : 0xff); }
  bool bit(u64 word, u64 i) const { return cut(word) >> i & 1; }
};

const std::vector<Bits> kBits = {{"b16", 16, "$h"}, {"b32", 32, "$w"}, {"b64", 64, "$d"}};

void add_logic(const Bits& t, std::vector<Case>& cases) {
  const std::string r = t.register_text, two = "." + t.name + " " + r + ", " + r + ", " + r;
  const std::string one = "." + t.name + " " + r + ", " + r;
  cases.push_back({"Logic", "and" + two, [t](const u64* s) { return t.cut(s[0] & s[1]); }});
  cases.push_back({"Logic", "or" + two, [t](const u64* s) { return t.cut(s[0] | s[1]); }});
  cases.push_back({"Logic", "xor" + two, [t](const u64* s) { return t.cut(s[0] ^ s[1]); }});
  cases.push_back({"Logic", "not" + one, [t](const u64* s) { return t.cut(~s[0]); }});
  cases.push_back({"Logic", "cnot" + one, [t](const u64* s) { return t.cut(s[0]) == 0 ? 1u : 0u; }});
}

// Bit by bit, so that amounts of any size mean what they say.
u64 shifted_right(const Bits& t, u64 word, u64 by, bool with_sign) {
  u64 result = 0;
  const bool fill = with_sign && t.bit(word, static_cast<u64>(t.width) - 1);
  for (u64 i = 0; i < static_cast<u64>(t.width); ++i) {
    const bool bit = i + by < static_cast<u64>(t.width) ? t.bit(word, i + by) : fill;
    result |= u64{bit} << i;
  }
  return result;
}

u64 shifted_left(const Bits& t, u64 word, u64 by) {
  u64 result = 0;
  for (u64 i = by; i < static_cast<u64>(t.width); ++i) result |= u64{t.bit(word, i - by)} << i;
  return result;
}

void add_shifts(const Bits& t, std::vector<Case>& cases) {
  const std::string r = t.register_text, operands = " " + r + ", " + r + ", $w", width = std::to_string(t.width);
  cases.push_back({"Shift", "shl." + t.name + operands,
                   [t](const u64* s) { return shifted_left(t, s[0], s[1] & 0xffffffff); }});
  cases.push_back({"Shift", "shr." + t.name + operands,
                   [t](const u64* s) { return shifted_right(t, s[0], s[1] & 0xffffffff, false); }});
  cases.push_back({"Shift", "shr.u" + width + operands,
                   [t](const u64* s) { return shifted_right(t, s[0], s[1] & 0xffffffff, false); }});
  cases.push_back({"Shift", "shr.s" + width + operands,
                   [t](const u64* s) { return shifted_right(t, s[0], s[1] & 0xffffffff, true); }});
  for (const int by : {0, 5, t.width - 1, t.width, 77}) {
    const std::string amount = " " + r + ", " + r + ", " + std::to_string(by);
    const u64 n = static_cast<u64>(by);
    cases.push_back({"Shift", "shl." + t.name + amount, [t, n](const u64* s) { return shifted_left(t, s[0], n); }});
    cases.push_back({"Shift", "shr.s" + width + amount,
                     [t, n](const u64* s) { return shifted_right(t, s[0], n, true); }});
    cases.push_back({"Shift", "shr.u" + width + amount,
                     [t, n](const u64* s) { return shifted_right(t, s[0], n, false); }});
  }
}

void add_funnel_shifts(std::vector<Case>& cases) {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    const auto amount = [wrap](u64 word) {
      const u64 by = word & 0xffffffff;
      return wrap ? by % 32 : std::min<u64>(by, 32);
    };
    cases.push_back({"Shift", "shf.l." + mode + ".b32 $w, $w, $w, $w", [amount](const u64* s) {
                       const u64 n = amount(s[2]), both = s[1] << 32 | s[0];
                       return n == 32 ? s[0] : (both << n >> 32) & 0xffffffff;
                     }});
    cases.push_back({"Shift", "shf.r." + mode + ".b32 $w, $w, $w, $w", [amount](const u64* s) {
                       return (s[1] << 32 | s[0]) >> amount(s[2]) & 0xffffffff;
                     }});
  }
}

u64 ones_in(u64 word) {
  u64 count = 0;
  for (; word != 0; word >>= 1) count += word & 1;
  return count;
}

void add_counts(const Bits& t, std::vector<Case>& cases) {
  const std::string r = t.register_text, width = std::to_string(t.width);
  const auto highest = [t](u64 word, bool with_sign) {
    const bool sign = with_sign && t.bit(word, static_cast<u64>(t.width) - 1);
    for (int i = t.width - 1; i >= 0; --i)
      if (t.bit(word, static_cast<u64>(i)) != sign) return i;
    return -1;
  };
  cases.push_back({"BitCount", "popc." + t.name + " $w, " + r, [t](const u64* s) { return ones_in(t.cut(s[0])); }});
  cases.push_back({"BitCount", "clz." + t.name + " $w, " + r,
                   [t, highest](const u64* s) { return static_cast<u64>(t.width - 1 - highest(s[0], false)); }});
  cases.push_back({"BitCount", "brev." + t.name + " " + r + ", " + r, [t](const u64* s) {
                     u64 result = 0;
                     for (int i = 0; i < t.width; ++i)
                       result |= u64{t.bit(s[0], static_cast<u64>(i))} << (t.width - 1 - i);
                     return result;
                   }});
  for (const bool with_sign : {false, true}) {
    const std::string type = (with_sign ? "s" : "u") + width + " $w, " + r;
    cases.push_back({"BitCount", "bfind." + type,
                     [highest, with_sign](const u64* s) { return static_cast<u64>(static_cast<u32>(highest(s[0], with_sign))); }});
    cases.push_back({"BitCount", "bfind.shiftamt." + type, [t, highest, with_sign](const u64* s) {
                       const int found = highest(s[0], with_sign);
                       return static_cast<u64>(static_cast<u32>(found < 0 ? -1 : t.width - 1 - found));
                     }});
  }
}

u64 extracted(const Bits& t, const u64* s, bool with_sign) {
  const u64 position = t.amount(s[1]), length = t.amount(s[2]), msb = static_cast<u64>(t.width) - 1;
  const bool sign = with_sign && length != 0 && t.bit(s[0], std::min(position + length - 1, msb));
  u64 result = 0;
  for (u64 i = 0; i <= msb; ++i)
    result |= u64{i < length && position + i <= msb ? t.bit(s[0], position + i) : sign} << i;
  return result;
}

u64 inserted(const Bits& t, u64 a, u64 b, u64 position, u64 length) {
  u64 result = t.cut(b);
  for (u64 i = 0; i < length && position + i < static_cast<u64>(t.width); ++i)
    result = (result & ~(u64{1} << (position + i))) | u64{t.bit(a, i)} << (position + i);
  return result;
}

void add_fields(const Bits& t, std::vector<Case>& cases) {
  const std::string r = t.register_text, width = std::to_string(t.width);
  cases.push_back({"BitField", "bfe.u" + width + " " + r + ", " + r + ", $w, $w",
                   [t](const u64* s) { return extracted(t, s, false); }});
  cases.push_back({"BitField", "bfe.s" + width + " " + r + ", " + r + ", $w, $w",
                   [t](const u64* s) { return extracted(t, s, true); }});
  cases.push_back({"BitField", "bfi." + t.name + " " + r + ", " + r + ", " + r + ", $w, $w",
                   [t](const u64* s) { return inserted(t, s[0], s[1], t.amount(s[2]), t.amount(s[3])); }});
  for (const auto& [position, length] : {std::pair<u64, u64>{0, 8}, {5, 11}, {16, 16}, {24, 40}, {31, 0}, {64, 3}})
    cases.push_back({"BitField",
                     "bfi." + t.name + " " + r + ", " + r + ", " + r + ", " + std::to_string(position) + ", " +
                         std::to_string(length),
                     [t, position = position, length = length](const u64* s) {
                       return inserted(t, s[0], s[1], position, length);
                     }});
}

u64 permuted(const u64* s, u64 selectors) {
  u64 result = 0;
  for (int i = 0; i < 4; ++i) {
    const u64 selector = selectors >> (4 * i) & 15, which = selector & 7;
    const u64 byte = (which < 4 ? s[0] >> (8 * which) : s[1] >> (8 * (which - 4))) & 255;
    result |= (selector & 8 ? (byte & 128 ? 255u : 0u) : byte) << (8 * i);
  }
  return result;
}

// Which byte goes to place i, as the text of the mode says.
u64 mode_selectors(const std::string& mode, u64 n) {
  u64 selectors = 0;
  for (u64 i = 0; i < 4; ++i) {
    u64 byte = 0;
    if (mode == "f4e") byte = n + i;
    if (mode == "b4e") byte = (n + 8 - i) % 8;
    if (mode == "rc8") byte = n;
    if (mode == "ecl") byte = std::max(i, n);
    if (mode == "ecr") byte = std::min(i, n);
    if (mode == "rc16") byte = 2 * (n % 2) + i % 2;
    selectors |= byte << (4 * i);
  }
  return selectors;
}

void add_permutations(std::vector<Case>& cases) {
  cases.push_back({"Permute", "prmt.b32 $w, $w, $w, $w", [](const u64* s) { return permuted(s, s[2]); }});
  for (const char* mode : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    cases.push_back({"Permute", std::string("prmt.b32.") + mode + " $w, $w, $w, $w",
                     [mode = std::string(mode)](const u64* s) { return permuted(s, mode_selectors(mode, s[2] & 3)); }});
  for (const u64 selectors : {0x3210u, 0x5410u, 0x7632u, 0x0123u, 0x6420u, 0x7531u, 0x4444u, 0x1065u, 0x2076u, 0xb3a2u,
                              0x9180u, 16704u})
    cases.push_back({"Permute", "prmt.b32 $w, $w, $w, " + std::to_string(selectors),
                     [selectors](const u64* s) { return permuted(s, selectors); }});
  cases.push_back({"Permute", "prmt.b32.rc16 $w, $w, $w, 1",
                   [](const u64* s) { return permuted(s, mode_selectors("rc16", 1)); }});
}

void add_three_input_logic(std::vector<Case>& cases) {
  for (const u64 table : {0x00u, 0xffu, 0xeau, 0x6au, 0x96u, 0xcau, 0xf8u, 0xfeu, 0x80u, 0xe8u, 0xd8u, 0x1bu, 0x35u})
    cases.push_back({"Logic3", "lop3.b32 $w, $w, $w, $w, " + std::to_string(table), [table](const u64* s) {
                       u64 result = 0;
                       for (int i = 0; i < 32; ++i) {
                         const u64 index = (s[0] >> i & 1) << 2 | (s[1] >> i & 1) << 1 | (s[2] >> i & 1);
                         result |= (table >> index & 1) << i;
                       }
                       return result;
                     }});
}

void add_predicate_logic(std::vector<Case>& cases) {
  cases.push_back({"Logic", "and.pred $p, $p, $p", [](const u64* s) { return s[0] & s[1]; }});
  cases.push_back({"Logic", "or.pred $p, $p, $p", [](const u64* s) { return s[0] | s[1]; }});
  cases.push_back({"Logic", "xor.pred $p, $p, $p", [](const u64* s) { return s[0] ^ s[1]; }});
  cases.push_back({"Logic", "not.pred $p, $p", [](const u64* s) { return s[0] ^ 1; }});
}

}  // namespace

std::vector<Case> bit_cases() {
  std::vector<Case> cases;
  for (const Bits& bits : kBits) {
    add_logic(bits, cases);
    add_shifts(bits, cases);
    if (bits.width == 16) continue;
    add_counts(bits, cases);
    add_fields(bits, cases);
  }
  add_funnel_shifts(cases);
  add_permutations(cases);
  add_three_input_logic(cases);
  add_predicate_logic(cases);
  return cases;
}

}  // namespace onelaunch::emu::bench
