#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

using Wide = __int128;

struct Integer {
  std::string name;
  int bits;
  bool with_sign;
  std::string reg() const { return bits == 64 ? "$d" : bits == 32 ? "$w" : "$h"; }
  Wide value(u64 word) const {
    const u64 cut = bits == 64 ? word : word & ((u64{1} << bits) - 1);
    return static_cast<Wide>(cut) - (with_sign && cut >> (bits - 1) ? static_cast<Wide>(1) << bits : 0);
  }
  Wide low() const { return with_sign ? -(static_cast<Wide>(1) << (bits - 1)) : 0; }
  Wide high() const { return (static_cast<Wide>(1) << (with_sign ? bits - 1 : bits)) - 1; }
  // An 8-bit result fills its 16-bit register.
  u64 word(Wide number) const {
    const Wide own = value(static_cast<u64>(number));
    return bits == 64 ? static_cast<u64>(own) : static_cast<u64>(own) & (bits == 32 ? 0xffffffff : 0xffff);
  }
};

const std::vector<Integer> kIntegers = {{"u8", 8, false},  {"s8", 8, true},  {"u16", 16, false}, {"s16", 16, true},
                                        {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

void add_integers(const Integer& to, const Integer& from, std::vector<Case>& cases) {
  const std::string end = to.name + "." + from.name + " " + to.reg() + ", " + from.reg();
  cases.push_back({"Convert", "cvt." + end, [to, from](const u64* s) { return to.word(from.value(s[0])); }});
  if (to.low() <= from.low() && to.high() >= from.high()) return;  // nothing to saturate
  cases.push_back({"Convert", "cvt.sat." + end, [to, from](const u64* s) {
                     return to.word(std::min(std::max(from.value(s[0]), to.low()), to.high()));
                   }});
}

struct Float {
  std::string name, reg;
  std::function<double(u64)> value;
};

const std::vector<Float>& floats() {
  static const std::vector<Float> list = {
      {"f32", "$w", [](u64 word) { return double{f32_of(word)}; }},
      {"f64", "$d", [](u64 word) { return f64_of(word); }},
      {"f16", "$h", [](u64 word) { return half_value(word & 0xffff, false); }},
      {"bf16", "$h", [](u64 word) { return half_value(word & 0xffff, true); }}};
  return list;
}

double rounded(double value, char mode) {
  if (mode == 'z') return std::trunc(value);
  if (mode == 'm') return std::floor(value);
  if (mode == 'p') return std::ceil(value);
  return std::nearbyint(value);
}

u64 integer_of(double value, const Float& from, const Integer& to) {
  if (std::isnan(value))  // the middle of the range, except between numbers below 64 bits
    return from.name == "f64" || to.bits == 64 ? to.word(static_cast<Wide>(1) << (to.bits - 1)) : 0;
  if (value >= 0x1p100) return to.word(to.high());
  if (value <= -0x1p100) return to.word(to.low());
  return to.word(std::min(std::max(static_cast<Wide>(value), to.low()), to.high()));
}

void add_float_to_integer(const Float& from, const Integer& to, std::vector<Case>& cases) {
  for (const char mode : {'n', 'z', 'm', 'p'})
    cases.push_back({"Convert",
                     std::string("cvt.r") + mode + "i." + to.name + "." + from.name + " " + to.reg() + ", " + from.reg,
                     [=](const u64* s) { return integer_of(rounded(from.value(s[0]), mode), from, to); }});
}

// Rounds an exact number (an integer or a double, as long double) to f32 in a direction, by neighbours.
u64 f32_word(long double exact, char mode) {
  if (std::isnan(exact)) return 0x7fffffff;
  float near = static_cast<float>(exact);
  if (static_cast<long double>(near) == exact) return word_of(near);
  const float inf = std::numeric_limits<float>::infinity();
  const float below = static_cast<long double>(near) < exact ? near : std::nextafter(near, -inf);
  const float above = static_cast<long double>(near) > exact ? near : std::nextafter(near, inf);
  if (mode == 'm' || (mode == 'z' && exact > 0)) near = below;
  if (mode == 'p' || (mode == 'z' && exact < 0)) near = above;
  return word_of(near);
}

u64 f64_word(long double exact, char mode) {
  double near = static_cast<double>(exact);
  if (static_cast<long double>(near) == exact) return word_of(near);
  const double inf = std::numeric_limits<double>::infinity();
  const double below = static_cast<long double>(near) < exact ? near : std::nextafter(near, -inf);
  const double above = static_cast<long double>(near) > exact ? near : std::nextafter(near, inf);
  if (mode == 'm' || (mode == 'z' && exact > 0)) near = below;
  if (mode == 'p' || (mode == 'z' && exact < 0)) near = above;
  return word_of(near);
}

void add_integer_to_float(const Integer& from, std::vector<Case>& cases) {
  for (const char mode : {'n', 'z', 'm', 'p'}) {
    const std::string start = std::string("cvt.r") + mode + ".";
    cases.push_back({"Convert", start + "f32." + from.name + " $w, " + from.reg(),
                     [=](const u64* s) { return f32_word(static_cast<long double>(from.value(s[0])), mode); }});
    cases.push_back({"Convert", start + "f64." + from.name + " $d, " + from.reg(),
                     [=](const u64* s) { return f64_word(static_cast<long double>(from.value(s[0])), mode); }});
    cases.push_back({"Convert", start + "f16." + from.name + " $h, " + from.reg(), mode != 'n' ? Formula{} : [=](const u64* s) {
                       const Wide v = from.value(s[0]);
                       return v > 70000 ? 0x7c00u : v < -70000 ? 0xfc00u : nearest_half(static_cast<double>(v), false);
                     }});
    if (from.bits == 8) continue;
    cases.push_back({"Convert", start + "bf16." + from.name + " $h, " + from.reg(), {}});
  }
}

void add_float_to_float(std::vector<Case>& cases) {
  const auto f32_value = [](const u64* s) { return f32_of(s[0]); };
  cases.push_back({"Convert", "cvt.f32.f16 $w, $h", [](const u64* s) {
                     return word_of(static_cast<float>(half_value(s[0], false)));
                   }});
  cases.push_back({"Convert", "cvt.f32.bf16 $w, $h", [](const u64* s) {
                     return s[0] << 16;
                   }});
  cases.push_back({"Convert", "cvt.f64.f32 $d, $w", [=](const u64* s) {
                     const double value = f32_value(s);
                     const u64 nan = (s[0] >> 31) << 63 | (s[0] & 0x7fffffff) << 29 | 0x7ff8000000000000;
                     return std::isnan(value) ? nan : word_of(value);
                   }});
  cases.push_back({"Convert", "cvt.f64.f16 $d, $h", [](const u64* s) {
                     const double value = half_value(s[0], false);
                     const u64 nan = (s[0] >> 15) << 63 | (s[0] & 0x7fff) << 42 | 0x7ff8000000000000;
                     return std::isnan(value) ? nan : word_of(value);
                   }});
  cases.push_back({"Convert", "cvt.ftz.f64.f32 $d, $w", {}});
  for (const char mode : {'n', 'z', 'm', 'p'}) {
    const std::string start = std::string("cvt.r") + mode;
    cases.push_back({"Convert", start + ".f32.f64 $w, $d",
                     [=](const u64* s) {
                       const u64 nan = (s[0] >> 63) << 31 | 0x7fc00000 | (s[0] >> 29 & 0x3fffff);
                       return std::isnan(f64_of(s[0])) ? nan : f32_word(f64_of(s[0]), mode);
                     }});
    cases.push_back({"Convert", start + ".f16.f64 $h, $d",
                     mode != 'n' ? Formula{} : [](const u64* s) {
                       const u64 nan = (s[0] >> 63) << 15 | 0x7e00 | (s[0] >> 42 & 0x1ff);
                       return std::isnan(f64_of(s[0])) ? nan : nearest_half(f64_of(s[0]), false);
                     }});
    cases.push_back({"Convert", start + ".f16.f32 $h, $w",
                     mode != 'n' ? Formula{} : [=](const u64* s) { return nearest_half(f32_value(s), false); }});
    if (mode == 'n' || mode == 'z')
      cases.push_back({"Convert", start + ".bf16.f32 $h, $w",
                       mode != 'n' ? Formula{} : [=](const u64* s) { return nearest_half(f32_value(s), true); }});
    cases.push_back({"Convert", start + "i.f32.f32 $w, $w",
                     [=](const u64* s) { return word_of(static_cast<float>(rounded(f32_value(s), mode))); }});
    cases.push_back({"Convert", start + "i.f64.f64 $d, $d",
                     [=](const u64* s) {
                       const double value = f64_of(s[0]);
                       return std::isnan(value) ? s[0] | u64{1} << 51 : word_of(rounded(value, mode));
                     }});
    cases.push_back({"Convert", start + "i.f16.f16 $h, $h",
                     [=](const u64* s) { return nearest_half(rounded(half_value(s[0], false), mode), false); }});
    cases.push_back({"Convert", start + "i.ftz.f32.f32 $w, $w", {}});
    cases.push_back({"Convert", start + "i.ftz.s32.f32 $w, $w", {}});
    cases.push_back({"Convert", start + ".ftz.f32.f64 $w, $d", {}});
    cases.push_back({"Convert", start + ".sat.f32.f64 $w, $d", {}});
  }
  cases.push_back({"Convert", "cvt.sat.f32.f32 $w, $w", [=](const u64* s) {
                     const float v = f32_value(s);
                     return word_of(v > 0 ? std::min(v, 1.0f) : 0.0f);
                   }});
  for (const char* text : {"cvt.ftz.f32.f32 $w, $w", "cvt.ftz.sat.f32.f32 $w, $w", "cvt.rn.ftz.f16.f32 $h, $w",
                           "cvt.sat.f32.f16 $w, $h", "cvt.rn.sat.f16.f32 $h, $w", "cvt.rn.relu.f16.f32 $h, $w",
                           "cvt.rn.relu.bf16.f32 $h, $w", "cvt.rz.relu.bf16.f32 $h, $w", "cvt.sat.f64.f64 $d, $d"})
    cases.push_back({"Convert", text, {}});
}

void add_packed(std::vector<Case>& cases) {
  for (const bool bf16 : {false, true}) {
    const std::string type = bf16 ? "bf16x2" : "f16x2";
    cases.push_back({"Convert", "cvt.rn." + type + ".f32 $w, $w, $w", [bf16](const u64* s) {
                       return nearest_half(f32_of(s[0]), bf16) << 16 | nearest_half(f32_of(s[1]), bf16);
                     }});
    for (const char* how : {"rz", "rn.relu", "rz.relu"})
      cases.push_back({"Convert", std::string("cvt.") + how + "." + type + ".f32 $w, $w, $w", {}});
  }
  for (const std::string type : {"e4m3x2", "e5m2x2"}) {
    for (const std::string relu : {"", ".relu"}) {
      cases.push_back({"Convert", "cvt.rn.satfinite" + relu + "." + type + ".f32 $h, $w, $w", {}});
      cases.push_back({"Convert", "cvt.rn.satfinite" + relu + "." + type + ".f16x2 $h, $w", {}});
      cases.push_back({"Convert", "cvt.rn" + relu + ".f16x2." + type + " $w, $h", {}});
    }
  }
  for (const char* how : {"rna", "rn", "rz", "rn.relu", "rz.relu"})
    cases.push_back({"Convert", std::string("cvt.") + how + ".tf32.f32 $w, $w", {}});
}

}  // namespace

std::vector<Case> convert_cases() {
  std::vector<Case> cases;
  for (const Integer& from : kIntegers) {
    for (const Integer& to : kIntegers) add_integers(to, from, cases);
    for (const Float& value : floats())
      if (value.name != "bf16" || from.bits > 8) add_float_to_integer(value, from, cases);
    add_integer_to_float(from, cases);
  }
  add_float_to_float(cases);
  add_packed(cases);
  return cases;
}

}  // namespace onelaunch::emu::bench
