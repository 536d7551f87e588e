#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

const std::vector<std::string> kFloatTests = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                              "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

bool holds(const std::string& test, bool less, bool equal, bool unordered) {
  if (test == "num") return !unordered;
  if (test == "nan") return unordered;
  const bool or_unordered = test.size() == 3;
  if (unordered) return or_unordered;
  const std::string base = test.substr(0, 2);
  if (base == "eq") return equal;
  if (base == "ne") return !equal;
  if (base == "lt" || base == "lo") return less;
  if (base == "le" || base == "ls") return less || equal;
  if (base == "gt" || base == "hi") return !less && !equal;
  return !less;
}

// How the words of a type compare.
struct Compared {
  std::string type, register_text;
  bool floating, with_sign;
  std::vector<std::string> tests;
  std::function<bool(const std::string&, u64, u64)> answer;
};

Compared integers(const std::string& type, int bits, bool with_sign, std::vector<std::string> tests) {
  const auto value = [bits, with_sign](u64 word) {
    const u64 cut = bits == 64 ? word : word & ((u64{1} << bits) - 1);
    const bool negative = with_sign && cut >> (bits - 1);
    return static_cast<__int128>(cut) - (negative ? static_cast<__int128>(1) << bits : 0);
  };
  return {type, bits == 64 ? "$d" : bits == 32 ? "$w" : "$h", false, with_sign, std::move(tests),
          [value](const std::string& test, u64 a, u64 b) {
            return holds(test, value(a) < value(b), value(a) == value(b), false);
          }};
}

Compared floats(const std::string& type, const std::string& register_text, std::function<double(u64)> value) {
  return {type, register_text, true, false, kFloatTests, [value](const std::string& test, u64 x, u64 y) {
            const double a = value(x), b = value(y);
            return holds(test, a < b, a == b, std::isnan(a) || std::isnan(b));
          }};
}

std::vector<Compared> compared() {
  const std::vector<std::string> with_sign = {"eq", "ne", "lt", "le", "gt", "ge"};
  const std::vector<std::string> without = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
  const std::vector<std::string> bits = {"eq", "ne"};
  return {integers("u16", 16, false, without), integers("s16", 16, true, with_sign), integers("b16", 16, false, bits),
          integers("u32", 32, false, without), integers("s32", 32, true, with_sign), integers("b32", 32, false, bits),
          integers("u64", 64, false, without), integers("s64", 64, true, with_sign), integers("b64", 64, false, bits),
          floats("f32", "$w", [](u64 word) { return double{f32_of(word)}; }),
          floats("f64", "$d", [](u64 word) { return f64_of(word); }),
          floats("f16", "$h", [](u64 word) { return half_value(word & 0xffff, false); }),
          floats("bf16", "$h", [](u64 word) { return half_value(word & 0xffff, true); })};
}

void add_setp(const Compared& c, std::vector<Case>& cases) {
  const std::string two = ", " + c.register_text + ", " + c.register_text;
  for (const std::string& test : c.tests)
    cases.push_back({"Setp", "setp." + test + "." + c.type + " $p" + two,
                     [c, test](const u64* s) { return c.answer(test, s[0], s[1]) ? 1u : 0u; }});
  const bool both = c.type != "f16" && c.type != "bf16";  // may have a second destination
  if (both)
    cases.push_back({"Setp", "setp.ne." + c.type + " $p|$p" + two,
                     [c](const u64* s) { return c.answer("ne", s[0], s[1]) ? 1u : 0u; }, 0,
                     [c](const u64* s) { return c.answer("ne", s[0], s[1]) ? 0u : 1u; }});
  const std::string other = c.tests.size() > 2 ? "lt" : "eq";
  for (const std::string combine : {"and", "or", "xor"})
    for (const bool negated : {false, true}) {
      const auto combined = [combine, negated](bool answer, u64 word) {
        const bool with = (word & 1) != (negated ? 1u : 0u);
        return u64{combine == "and" ? answer && with : combine == "or" ? answer || with : answer != with};
      };
      cases.push_back({"Setp",
                       "setp." + other + "." + combine + "." + c.type + (both ? " $p|$p" : " $p") + two +
                           (negated ? ", !$p" : ", $p"),
                       [=](const u64* s) { return combined(c.answer(other, s[0], s[1]), s[2]); }, 0,
                       both ? [=](const u64* s) { return combined(!c.answer(other, s[0], s[1]), s[2]); } : Formula{}});
    }
}

void add_set(const Compared& c, std::vector<Case>& cases) {
  const std::string two = ", " + c.register_text + ", " + c.register_text;
  const bool half = c.type == "f16" || c.type == "bf16";
  if (c.type.back() == '6' && !half) return;   // set has no 16-bit integers
  if (!half)
    cases.push_back({"Set", "set.ne.f32." + c.type + " $w" + two,
                     [c](const u64* s) { return c.answer("ne", s[0], s[1]) ? 0x3f800000u : 0u; }});
  if (c.type != "bf16")
    cases.push_back({"Set", "set.eq.u32." + c.type + " $w" + two,
                     [c](const u64* s) { return c.answer("eq", s[0], s[1]) ? 0xffffffffu : 0u; }});
  if (!half && c.tests.size() > 2)
    cases.push_back({"Set", "set.lt.and.s32." + c.type + " $w" + two + ", $p", [c](const u64* s) {
                       return c.answer("lt", s[0], s[1]) && (s[2] & 1) ? 0xffffffffu : 0u;
                     }});
}

void add_packed(std::vector<Case>& cases) {
  for (const bool bf16 : {false, true}) {
    const std::string type = bf16 ? "bf16" : "f16";
    const auto answer = [bf16](const std::string& test, const u64* s, int shift) {
      const double a = half_value(s[0] >> shift & 0xffff, bf16), b = half_value(s[1] >> shift & 0xffff, bf16);
      return holds(test, a < b, a == b, std::isnan(a) || std::isnan(b));
    };
    for (const std::string& test : kFloatTests) {
      const u64 one = bf16 ? 0x3f80 : 0x3c00;
      cases.push_back({"Set", "set." + test + "." + type + "x2." + type + "x2 $w, $w, $w", [=](const u64* s) {
                         return (answer(test, s, 0) ? one : 0) | (answer(test, s, 16) ? one << 16 : 0);
                       }});
      cases.push_back({"Setp", "setp." + test + "." + type + "x2 $p|$p, $w, $w",
                       [=](const u64* s) { return answer(test, s, 0) ? 1u : 0u; }, 0,
                       [=](const u64* s) { return answer(test, s, 16) ? 1u : 0u; }});
    }
    cases.push_back({"Set", "set.lt." + type + "." + type + " $h, $h, $h", [=](const u64* s) {
                       return answer("lt", s, 0) ? (bf16 ? 0x3f80u : 0x3c00u) : 0u;
                     }});
  }
}

void add_flushing(std::vector<Case>& cases) {
  const auto value = [](u64 word) {
    const float number = f32_of(word);
    return std::fpclassify(number) == FP_SUBNORMAL ? 0.0 : double{number};
  };
  const Compared c = floats("ftz.f32", "$w", value);
  for (const std::string& test : kFloatTests)
    cases.push_back({"Setp", "setp." + test + ".ftz.f32 $p, $w, $w",
                     [c, test](const u64* s) { return c.answer(test, s[0], s[1]) ? 1u : 0u; }});
}

void add_testp(std::vector<Case>& cases) {
  const auto is = [](const std::string& what, int kind, bool finite) {
    if (what == "finite") return finite;
    if (what == "infinite") return kind == FP_INFINITE;
    if (what == "number") return kind != FP_NAN;
    if (what == "notanumber") return kind == FP_NAN;
    return what == "normal" ? kind == FP_NORMAL || kind == FP_ZERO : kind == FP_SUBNORMAL;
  };
  for (const std::string what : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    cases.push_back({"Testp", "testp." + what + ".f32 $p, $w", [=](const u64* s) {
                       const float v = f32_of(s[0]);
                       return u64{is(what, std::fpclassify(v), std::isfinite(v))};
                     }});
    cases.push_back({"Testp", "testp." + what + ".f64 $p, $d", [=](const u64* s) {
                       const double v = f64_of(s[0]);
                       return u64{is(what, std::fpclassify(v), std::isfinite(v))};
                     }});
  }
}

void add_selections(std::vector<Case>& cases) {
  cases.push_back({"Select", "selp.b32 $w, $w, $w, $p", [](const u64* s) { return s[2] & 1 ? s[0] : s[1]; }});
  cases.push_back({"Select", "selp.f32 $w, $w, $w, !$p", [](const u64* s) { return s[2] & 1 ? s[1] : s[0]; }});
  cases.push_back({"Select", "selp.b64 $d, $d, $d, $p", [](const u64* s) { return s[2] & 1 ? s[0] : s[1]; }});
  cases.push_back({"Select", "selp.b16 $h, $h, $h, $p", [](const u64* s) { return s[2] & 1 ? s[0] : s[1]; }});
  cases.push_back({"Select", "slct.u32.s32 $w, $w, $w, $w",
                   [](const u64* s) { return static_cast<s32>(s[2]) >= 0 ? s[0] : s[1]; }});
  cases.push_back({"Select", "slct.f64.s32 $d, $d, $d, $w",
                   [](const u64* s) { return static_cast<s32>(s[2]) >= 0 ? s[0] : s[1]; }});
  cases.push_back({"Select", "slct.b32.f32 $w, $w, $w, $w",
                   [](const u64* s) { return f32_of(s[2]) >= 0 ? s[0] : s[1]; }});
  cases.push_back({"Select", "slct.ftz.b32.f32 $w, $w, $w, $w", [](const u64* s) {
                     const float c = f32_of(s[2]);
                     return c >= 0 || std::fpclassify(c) == FP_SUBNORMAL ? s[0] : s[1];
                   }});
}

}  // namespace

std::vector<Case> compare_cases() {
  std::vector<Case> cases;
  for (const Compared& c : compared()) {
    add_setp(c, cases);
    add_set(c, cases);
  }
  add_packed(cases);
  add_flushing(cases);
  add_testp(cases);
  add_selections(cases);
  return cases;
}

}  // namespace onelaunch::emu::bench
