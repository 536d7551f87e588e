#include <cfenv>

#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }

struct Variant {
  std::string modifiers;
  bool ftz, sat;
  float in(u64 word) const { return ftz ? flushed(f32_of(word)) : f32_of(word); }
  // `tiny`: the exact result, rounded to 24 bits, is below the normal numbers.
  u64 out(float value, bool tiny = false) const {
    float result = ftz ? flushed(tiny ? std::copysign(0.0f, value) : value) : value;
    if (sat) result = result > 0 ? std::min(result, 1.0f) : 0.0f;
    return word_of(result);
  }
};

const std::vector<Variant> kVariants = {
    {"", false, false}, {".ftz", true, false}, {".sat", false, true}, {".ftz.sat", true, true}};

const std::vector<std::pair<std::string, int>> kModes = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

// Computes under a rounding mode; noinline and volatile keep the compiler from moving the work.
template <class F>
[[gnu::noinline]] auto under(int mode, F compute) {
  std::fesetround(mode);
  volatile auto result = compute();
  std::fesetround(FE_TONEAREST);
  return static_cast<decltype(compute())>(result);
}

// Whether a value just below the smallest normal number is still below it when rounded to 24 bits.
bool stays_tiny(long double exact, int mode) {
  const long double magnitude = std::fabs(exact), last = 0x1p-126L - 0x1p-150L;
  if (std::isnan(exact)) return false;
  if (magnitude <= last) return true;
  if (magnitude >= 0x1p-126L || mode == FE_TOWARDZERO) return magnitude < 0x1p-126L;
  if (mode == FE_TONEAREST) return magnitude < 0x1p-126L - 0x1p-151L;
  return (mode == FE_DOWNWARD) != std::signbit(exact);
}

void add_arithmetic(const std::string& rounding, int mode, const Variant& v, std::vector<Case>& cases) {
  const std::string end = rounding + v.modifiers + ".f32 $w, $w, $w";
  cases.push_back({"Add", "add" + end, [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), b = v.in(s[1]);
                     return v.out(under(mode, [&] { return a + b; }));
                   }});
  cases.push_back({"Sub", "sub" + end, [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), b = v.in(s[1]);
                     return v.out(under(mode, [&] { return a - b; }));
                   }});
  cases.push_back({"Mul", "mul" + end, [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), b = v.in(s[1]);
                     const bool tiny = stays_tiny(static_cast<long double>(a) * b, mode);
                     return v.out(under(mode, [&] { return a * b; }), tiny);
                   }});
  cases.push_back({"Fma", "fma" + end + ", $w", [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), b = v.in(s[1]), c = v.in(s[2]);
                     const bool tiny = stays_tiny(static_cast<long double>(a) * b + c, mode);
                     return v.out(under(mode, [&] { return std::fma(a, b, c); }), tiny);
                   }});
}

void add_roots(const std::string& rounding, int mode, bool ftz, std::vector<Case>& cases) {
  const Variant v{ftz ? ".ftz" : "", ftz, false};
  const std::string end = rounding + v.modifiers + ".f32 $w, $w";
  cases.push_back({"Div", "div" + end + ", $w", [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), b = v.in(s[1]);
                     const bool tiny = stays_tiny(static_cast<long double>(a) / b, mode);
                     return v.out(under(mode, [&] { return a / b; }), tiny);
                   }});
  cases.push_back({"Reciprocal", "rcp" + end, [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]), one = 1;
                     return v.out(under(mode, [&] { return one / a; }));
                   }});
  cases.push_back({"SquareRoot", "sqrt" + end, [v, mode](const u64* s) {
                     const volatile float a = v.in(s[0]);
                     return v.out(under(mode, [&] { return std::sqrt(a); }));
                   }});
}

float chosen(float a, float b, bool maximum) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

void add_choices(bool maximum, bool ftz, std::vector<Case>& cases) {
  const Variant v{ftz ? ".ftz" : "", ftz, false};
  const std::string name = (maximum ? "max" : "min") + v.modifiers, end = ".f32 $w, $w, $w";
  const auto with_nan = [](float a, float b, float result) { return std::isnan(a) || std::isnan(b) ? NAN : result; };
  const auto xorsign = [](float a, float b, float result) {
    return std::isnan(result) ? result : std::copysign(result, std::signbit(a) != std::signbit(b) ? -1.0f : 1.0f);
  };
  cases.push_back({"MinMax", name + end, [=](const u64* s) {
                     return word_of(chosen(v.in(s[0]), v.in(s[1]), maximum));
                   }});
  cases.push_back({"MinMax", name + ".NaN" + end, [=](const u64* s) {
                     const float a = v.in(s[0]), b = v.in(s[1]);
                     return word_of(with_nan(a, b, chosen(a, b, maximum)));
                   }});
  cases.push_back({"MinMax", name + ".xorsign.abs" + end, [=](const u64* s) {
                     const float a = v.in(s[0]), b = v.in(s[1]);
                     return word_of(xorsign(a, b, chosen(std::fabs(a), std::fabs(b), maximum)));
                   }});
  cases.push_back({"MinMax", name + ".NaN.xorsign.abs" + end, [=](const u64* s) {
                     const float a = v.in(s[0]), b = v.in(s[1]);
                     return word_of(xorsign(a, b, with_nan(a, b, chosen(std::fabs(a), std::fabs(b), maximum))));
                   }});
}

void add_approximation(const std::string& name, double (*exact)(double), double ulps, std::vector<Case>& cases) {
  for (const bool ftz : {false, true}) {
    const Variant v{ftz ? ".ftz" : "", ftz, false};
    cases.push_back({"Approximation", name + ".approx" + v.modifiers + ".f32 $w, $w",
                     [v, exact](const u64* s) { return v.out(static_cast<float>(exact(v.in(s[0])))); }, ulps});
  }
}

double reciprocal_root(double x) { return 1 / std::sqrt(x); }

void add_approximations(std::vector<Case>& cases) {
  add_approximation("ex2", [](double x) { return std::exp2(x); }, 3, cases);
  add_approximation("lg2", [](double x) { return std::log2(x); }, 2, cases);
  add_approximation("rsqrt", reciprocal_root, 2, cases);
  add_approximation("sin", [](double x) { return std::sin(x); }, 1e9, cases);  // no relative bound
  add_approximation("cos", [](double x) { return std::cos(x); }, 1e9, cases);
  cases.push_back({"Approximation", "tanh.approx.f32 $w, $w",
                   [](const u64* s) { return word_of(static_cast<float>(std::tanh(double{f32_of(s[0])}))); }, 1e9});
  for (const bool ftz : {false, true}) {
    const Variant v{ftz ? ".ftz" : "", ftz, false};
    const std::string end = ".approx" + v.modifiers + ".f32 $w, $w";
    cases.push_back({"Reciprocal", "rcp" + end, [v](const u64* s) { return v.out(1 / v.in(s[0])); }, 1});
    cases.push_back({"SquareRoot", "sqrt" + end, [v](const u64* s) { return v.out(std::sqrt(v.in(s[0]))); }, 2});
    cases.push_back({"Div", "div.full" + v.modifiers + ".f32 $w, $w, $w",
                     [v](const u64* s) { return v.out(v.in(s[0]) / v.in(s[1])); }, 2});
    cases.push_back({"Div", "div.approx" + v.modifiers + ".f32 $w, $w, $w", [v](const u64* s) {
                       const float a = v.in(s[0]), b = v.in(s[1]);
                       const bool large = std::fabs(b) > 0x1p126f && std::isfinite(b);
                       return v.out(large ? a * std::copysign(0.0f, b) : a / b);
                     }, 2});
  }
}

void add_signs(std::vector<Case>& cases) {
  cases.push_back({"Neg", "neg.f32 $w, $w", [](const u64* s) { return word_of(-f32_of(s[0])); }});
  cases.push_back({"Abs", "abs.f32 $w, $w", [](const u64* s) { return word_of(std::fabs(f32_of(s[0]))); }});
  cases.push_back({"Neg", "neg.ftz.f32 $w, $w", [](const u64* s) { return word_of(-flushed(f32_of(s[0]))); }});
  cases.push_back({"Abs", "abs.ftz.f32 $w, $w", [](const u64* s) { return word_of(std::fabs(flushed(f32_of(s[0])))); }});
  cases.push_back({"CopySign", "copysign.f32 $w, $w, $w",
                   [](const u64* s) { return (s[0] & 0x80000000u) | (s[1] & 0x7fffffffu); }});
}

// The first NaN of a list, made quiet; zero if there is none.
u64 kept_nan(std::initializer_list<u64> words) {
  for (const u64 word : words)
    if (std::isnan(f64_of(word))) return word | u64{1} << 51;
  return 0;
}

void add_double_arithmetic(const std::string& rounding, int mode, std::vector<Case>& cases) {
  const auto two = [&](const std::string& test, const std::string& name, auto operation) {
    cases.push_back({test, name + rounding + ".f64 $d, $d, $d", [mode, operation, name](const u64* s) {
                       const std::initializer_list<u64> first_wins = {s[0], s[1]}, last_wins = {s[1], s[0]};
                       if (const u64 nan = kept_nan(name == "div" ? first_wins : last_wins)) return nan;
                       const volatile double a = f64_of(s[0]), b = f64_of(s[1]);
                       return word_of(under(mode, [&] { return operation(a, b); }));
                     }});
  };
  two("Add", "add", [](double a, double b) { return a + b; });
  two("Sub", "sub", [](double a, double b) { return a - b; });
  two("Mul", "mul", [](double a, double b) { return a * b; });
  two("Div", "div", [](double a, double b) { return a / b; });
  cases.push_back({"Fma", "fma" + rounding + ".f64 $d, $d, $d, $d", [mode](const u64* s) {
                     if (const u64 nan = kept_nan({s[1], s[2], s[0]})) return nan;
                     const volatile double a = f64_of(s[0]), b = f64_of(s[1]), c = f64_of(s[2]);
                     return word_of(under(mode, [&] { return std::fma(a, b, c); }));
                   }});
  cases.push_back({"Reciprocal", "rcp" + rounding + ".f64 $d, $d", [mode](const u64* s) {
                     if (const u64 nan = kept_nan({s[0]})) return nan;
                     const volatile double a = f64_of(s[0]), one = 1;
                     return word_of(under(mode, [&] { return one / a; }));
                   }});
  cases.push_back({"SquareRoot", "sqrt" + rounding + ".f64 $d, $d", [mode](const u64* s) {
                     if (const u64 nan = kept_nan({s[0]})) return nan;
                     const volatile double a = f64_of(s[0]);
                     return word_of(under(mode, [&] { return std::sqrt(a); }));
                   }});
}

double chosen_double(double a, double b, bool maximum) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

u64 chosen_word(const u64* s, bool maximum) {
  const double chosen_one = chosen_double(f64_of(s[0]), f64_of(s[1]), maximum);
  return std::isnan(chosen_one) ? kept_nan({s[1]}) : word_of(chosen_one);
}

}  // namespace

std::vector<Case> float_cases() {
  std::vector<Case> cases;
  for (const auto& [name, mode] : kModes) {
    for (const Variant& variant : kVariants) add_arithmetic(name, mode, variant, cases);
    add_roots(name, mode, false, cases);
    add_roots(name, mode, true, cases);
  }
  for (const bool maximum : {false, true})
    for (const bool ftz : {false, true}) add_choices(maximum, ftz, cases);
  add_approximations(cases);
  add_signs(cases);
  return cases;
}

std::vector<Case> double_cases() {
  std::vector<Case> cases;
  for (const auto& [name, mode] : kModes) add_double_arithmetic(name, mode, cases);
  cases.push_back({"Approximation", "rsqrt.approx.f64 $d, $d",
                   [](const u64* s) {
                     const u64 nan = kept_nan({s[0]});
                     return nan ? nan : word_of(reciprocal_root(f64_of(s[0])));
                   }, 1e9});
  cases.push_back({"MinMax", "min.f64 $d, $d, $d",
                   [](const u64* s) { return chosen_word(s, false); }});
  cases.push_back({"MinMax", "max.f64 $d, $d, $d",
                   [](const u64* s) { return chosen_word(s, true); }});
  constexpr u64 kSign = u64{1} << 63;
  cases.push_back({"Neg", "neg.f64 $d, $d", [](const u64* s) {
                     const u64 nan = kept_nan({s[0]});
                     return nan ? nan : s[0] ^ kSign;
                   }});
  cases.push_back({"Abs", "abs.f64 $d, $d", [](const u64* s) {
                     const u64 nan = kept_nan({s[0]});
                     return nan ? nan : s[0] & ~kSign;
                   }});
  cases.push_back({"CopySign", "copysign.f64 $d, $d, $d",
                   [](const u64* s) { return (s[0] & kSign) | (s[1] & ~kSign); }});
  return cases;
}

}  // namespace onelaunch::emu::bench
