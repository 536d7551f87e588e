#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

using Wide = __int128;

struct IntegerType {
  std::string name;
  int bits;
  bool with_sign;
  char kind() const { return bits == 64 ? 'd' : bits == 32 ? 'w' : 'h'; }
  Wide value(u64 word) const {
    const Wide cut = bits == 64 ? static_cast<Wide>(word) : static_cast<Wide>(word & ((u64{1} << bits) - 1));
    return with_sign && (cut >> (bits - 1) & 1) ? cut - (static_cast<Wide>(1) << bits) : cut;
  }
  u64 word(Wide value) const {
    return bits == 64 ? static_cast<u64>(value) : static_cast<u64>(value) & ((u64{1} << bits) - 1);
  }
  Wide low() const { return with_sign ? -(static_cast<Wide>(1) << (bits - 1)) : 0; }
  Wide high() const { return (static_cast<Wide>(1) << (with_sign ? bits - 1 : bits)) - 1; }
};

const std::vector<IntegerType> kTypes = {{"u16", 16, false}, {"s16", 16, true}, {"u32", 32, false},
                                         {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

std::string operands(const std::string& kinds) {
  std::string text;
  for (const char kind : kinds) text += (text.empty() ? " $" : ", $") + std::string(1, kind);
  return text;
}

void add_sums(const IntegerType& t, std::vector<Case>& cases) {
  const std::string two = operands(std::string(3, t.kind())), one = operands(std::string(2, t.kind()));
  cases.push_back({"Add", "add." + t.name + two, [t](const u64* s) { return t.word(t.value(s[0]) + t.value(s[1])); }});
  cases.push_back({"Sub", "sub." + t.name + two, [t](const u64* s) { return t.word(t.value(s[0]) - t.value(s[1])); }});
  cases.push_back({"MinMax", "min." + t.name + two,
                   [t](const u64* s) { return t.word(std::min(t.value(s[0]), t.value(s[1]))); }});
  cases.push_back({"MinMax", "max." + t.name + two,
                   [t](const u64* s) { return t.word(std::max(t.value(s[0]), t.value(s[1]))); }});
  if (!t.with_sign) return;
  cases.push_back({"Neg", "neg." + t.name + one, [t](const u64* s) { return t.word(-t.value(s[0])); }});
  cases.push_back({"Abs", "abs." + t.name + one, [t](const u64* s) {
                     const Wide v = t.value(s[0]);
                     return t.word(v < 0 ? -v : v);
                   }});
}

void add_quotients(const IntegerType& t, std::vector<Case>& cases) {
  const std::string two = operands(std::string(3, t.kind()));
  cases.push_back({"Div", "div." + t.name + two, [t](const u64* s) {
                     const Wide b = t.value(s[1]);
                     return b == 0 ? t.word(-1) : t.word(t.value(s[0]) / b);
                   }});
  cases.push_back({"Rem", "rem." + t.name + two, [t](const u64* s) {
                     const Wide b = t.value(s[1]);
                     return b == 0 ? t.word(-1) : t.word(t.value(s[0]) % b);
                   }});
}

void add_products(const IntegerType& t, std::vector<Case>& cases) {
  const std::string two = operands(std::string(3, t.kind())), three = operands(std::string(4, t.kind()));
  const auto high = [t](const u64* s) {
    if (t.bits == 64 && !t.with_sign)
      return static_cast<Wide>(static_cast<unsigned __int128>(s[0]) * static_cast<unsigned __int128>(s[1]) >> 64);
    return t.value(s[0]) * t.value(s[1]) >> t.bits;
  };
  cases.push_back({"Mul", "mul.lo." + t.name + two, [t](const u64* s) {
                     return t.word(static_cast<Wide>(static_cast<unsigned __int128>(t.value(s[0])) *
                                                     static_cast<unsigned __int128>(t.value(s[1]))));
                   }});
  cases.push_back({"Mul", "mul.hi." + t.name + two, [t, high](const u64* s) { return t.word(high(s)); }});
  cases.push_back({"Mad", "mad.lo." + t.name + three, [t](const u64* s) {
                     return t.word(static_cast<Wide>(static_cast<unsigned __int128>(t.value(s[0])) *
                                                         static_cast<unsigned __int128>(t.value(s[1])) +
                                                     static_cast<unsigned __int128>(t.value(s[2]))));
                   }});
  cases.push_back({"Mad", "mad.hi." + t.name + three,
                   [t, high](const u64* s) { return t.word(high(s) + t.value(s[2])); }});
  cases.push_back({"Sad", "sad." + t.name + three, [t](const u64* s) {
                     const Wide a = t.value(s[0]), b = t.value(s[1]);
                     return t.word(t.value(s[2]) + (a < b ? b - a : a - b));
                   }});
  if (t.bits == 64) return;
  const IntegerType wide{"", 2 * t.bits, t.with_sign};
  cases.push_back({"Mul", "mul.wide." + t.name + operands(std::string{wide.kind(), t.kind(), t.kind()}),
                   [t, wide](const u64* s) { return wide.word(t.value(s[0]) * t.value(s[1])); }});
  cases.push_back({"Mad", "mad.wide." + t.name + operands(std::string{wide.kind(), t.kind(), t.kind(), wide.kind()}),
                   [t, wide](const u64* s) { return wide.word(t.value(s[0]) * t.value(s[1]) + wide.value(s[2])); }});
}

u64 clamped_word(Wide value) {
  const Wide low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
  return static_cast<u32>(std::min(std::max(value, low), high));
}

Wide cut24(u64 word, bool with_sign) {
  const s64 low = static_cast<s64>(word & 0xffffff);
  return with_sign && (low & 0x800000) ? low - 0x1000000 : low;
}

void add_24_bit(std::vector<Case>& cases) {
  for (const bool with_sign : {false, true}) {
    const std::string type = with_sign ? "s32" : "u32";
    const auto part = [with_sign](const u64* s, int shift) {
      return static_cast<u32>(cut24(s[0], with_sign) * cut24(s[1], with_sign) >> shift);
    };
    cases.push_back({"Mul24", "mul24.lo." + type + " $w, $w, $w", [part](const u64* s) { return part(s, 0); }});
    cases.push_back({"Mul24", "mul24.hi." + type + " $w, $w, $w", [part](const u64* s) { return part(s, 16); }});
    cases.push_back({"Mul24", "mad24.lo." + type + " $w, $w, $w, $w",
                     [part](const u64* s) { return part(s, 0) + static_cast<u32>(s[2]); }});
    cases.push_back({"Mul24", "mad24.hi." + type + " $w, $w, $w, $w",
                     [part](const u64* s) { return part(s, 16) + static_cast<u32>(s[2]); }});
  }
}

s64 part_of(u64 word, int i, int bits, bool with_sign) {
  const s64 part = static_cast<s64>(word >> (bits * i) & ((1u << bits) - 1));
  return with_sign && part >> (bits - 1) ? part - (s64{1} << bits) : part;
}

void add_dot_products(std::vector<Case>& cases) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const std::string types = std::string(a ? ".s32" : ".u32") + (b ? ".s32" : ".u32") + " $w, $w, $w, $w";
      cases.push_back({"DotProduct", "dp4a" + types, [a, b](const u64* s) {
                         s64 sum = static_cast<s64>(s[2]);
                         for (int i = 0; i < 4; ++i) sum += part_of(s[0], i, 8, a) * part_of(s[1], i, 8, b);
                         return static_cast<u64>(static_cast<u32>(sum));
                       }});
      for (const int high : {0, 1})
        cases.push_back({"DotProduct", (high ? "dp2a.hi" : "dp2a.lo") + types, [a, b, high](const u64* s) {
                           s64 sum = static_cast<s64>(s[2]);
                           for (int i = 0; i < 2; ++i)
                             sum += part_of(s[0], i, 16, a) * part_of(s[1], i + 2 * high, 8, b);
                           return static_cast<u64>(static_cast<u32>(sum));
                         }});
    }
}

u64 on_halves(const u64* s, bool with_sign, s64 (*f)(s64, s64)) {
  u64 word = 0;
  for (int i = 0; i < 2; ++i)
    word |= static_cast<u64>(f(part_of(s[0], i, 16, with_sign), part_of(s[1], i, 16, with_sign)) & 0xffff) << (16 * i);
  return word;
}

s64 sum_of(s64 a, s64 b) { return a + b; }
s64 smaller_of(s64 a, s64 b) { return a < b ? a : b; }
s64 larger_of(s64 a, s64 b) { return a > b ? a : b; }
s64 larger_or_zero(s64 a, s64 b) { return larger_of(larger_of(a, b), 0); }

void add_pairs(std::vector<Case>& cases) {
  const std::string w3 = " $w, $w, $w";
  cases.push_back({"Add", "add.u16x2" + w3, [](const u64* s) { return on_halves(s, false, sum_of); }});
  cases.push_back({"Add", "add.s16x2" + w3, [](const u64* s) { return on_halves(s, true, sum_of); }});
  cases.push_back({"MinMax", "min.u16x2" + w3, [](const u64* s) { return on_halves(s, false, smaller_of); }});
  cases.push_back({"MinMax", "max.s16x2" + w3, [](const u64* s) { return on_halves(s, true, larger_of); }});
  cases.push_back({"MinMax", "max.relu.s16x2" + w3, [](const u64* s) { return on_halves(s, true, larger_or_zero); }});
}

}  // namespace

std::vector<Case> integer_cases() {
  std::vector<Case> cases;
  for (const IntegerType& type : kTypes) {
    add_sums(type, cases);
    add_quotients(type, cases);
    add_products(type, cases);
  }
  const IntegerType word{"s32", 32, true};
  cases.push_back({"Add", "add.sat.s32 $w, $w, $w",
                   [word](const u64* s) { return clamped_word(word.value(s[0]) + word.value(s[1])); }});
  cases.push_back({"Sub", "sub.sat.s32 $w, $w, $w",
                   [word](const u64* s) { return clamped_word(word.value(s[0]) - word.value(s[1])); }});
  cases.push_back({"Mad", "mad.hi.sat.s32 $w, $w, $w, $w", [word](const u64* s) {
                     return clamped_word((word.value(s[0]) * word.value(s[1]) >> 32) + word.value(s[2]));
                   }});
  cases.push_back({"MinMax", "min.relu.s32 $w, $w, $w", [word](const u64* s) {
                     return word.word(std::max<Wide>(std::min(word.value(s[0]), word.value(s[1])), 0));
                   }});
  add_24_bit(cases);
  add_dot_products(cases);
  add_pairs(cases);
  return cases;
}

}  // namespace onelaunch::emu::bench
