#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {
namespace {

// One 16-bit format with modifiers; values are exact doubles.
struct Half {
  std::string type;
  bool bf16;
  std::string modifiers;
  bool ftz = false, sat = false, relu = false;

  bool subnormal(u64 code) const { return (code & (bf16 ? 0x7f80 : 0x7c00)) == 0; }
  double in(u64 code) const { return half_value(ftz && subnormal(code) ? code & 0x8000 : code, bf16); }
  u64 out(double exact) const {
    if (sat) exact = exact > 0 ? std::min(exact, 1.0) : 0.0;
    if (relu && exact <= 0) exact = 0;
    const u64 code = nearest_half(exact, bf16);
    return ftz && subnormal(code) ? code & 0x8000 : code;
  }
};

const std::vector<Half> kPlain = {{"f16", false, ""}, {"bf16", true, ""}};

using Function = std::function<u64(const Half&, const u64*)>;

// The case for one number a register and for two.
void add_both(const std::string& test, const std::string& name, const Half& half, int sources, const Function& f,
              std::vector<Case>& cases, double ulps = 0) {
  std::string one = " $h", two = " $w";
  for (int i = 0; i < sources; ++i) {
    one += ", $h";
    two += ", $w";
  }
  const auto cut = [half, f, sources](const u64* s, int shift) {
    u64 codes[3] = {};
    for (int i = 0; i < sources; ++i) codes[i] = s[i] >> shift & 0xffff;
    return f(half, codes);
  };
  cases.push_back({test, name + half.modifiers + "." + half.type + one, [cut](const u64* s) { return cut(s, 0); }, ulps});
  cases.push_back({test, name + half.modifiers + "." + half.type + "x2" + two,
                   [cut](const u64* s) { return cut(s, 0) | cut(s, 16) << 16; }, ulps});
}

// Correct to 64 bits, of which ties of 8 or 11 bits need far fewer: sums of products of 16-bit floats in long double
// lose bits only beyond 2^-64, which the sticky last bit stands for.
double exact_fma(double a, double b, double c) {
  const long double product = static_cast<long double>(a) * b, sum = product + c;
  if (std::isnan(sum) || std::isinf(sum)) return static_cast<double>(sum);
  const long double other = sum - product, error = (product - (sum - other)) + (c - other);
  const double nearest = static_cast<double>(sum);
  const long double rest = (sum - static_cast<long double>(nearest)) + error;
  if (rest == 0) return nearest;
  // Not exact: step off a possible tie toward the true value.
  return std::nextafter(nearest, rest > 0 ? std::numeric_limits<double>::infinity()
                                          : -std::numeric_limits<double>::infinity());
}

void add_sums(const Half& half, std::vector<Case>& cases) {
  add_both("Add", "add", half, 2, [](const Half& h, const u64* s) { return h.out(h.in(s[0]) + h.in(s[1])); }, cases);
  add_both("Sub", "sub", half, 2, [](const Half& h, const u64* s) { return h.out(h.in(s[0]) - h.in(s[1])); }, cases);
  add_both("Mul", "mul", half, 2, [](const Half& h, const u64* s) { return h.out(h.in(s[0]) * h.in(s[1])); }, cases);
}

void add_fma(const Half& half, std::vector<Case>& cases) {
  add_both("Fma", "fma.rn", half, 3,
           [](const Half& h, const u64* s) { return h.out(exact_fma(h.in(s[0]), h.in(s[1]), h.in(s[2]))); }, cases);
}

double chosen(double a, double b, bool maximum) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == maximum ? b : a;
  return (a < b) == maximum ? b : a;
}

void add_choices(const Half& half, bool maximum, std::vector<Case>& cases) {
  const std::string name = maximum ? "max" : "min";
  const auto keep_nan = [](double a, double b, double result) { return std::isnan(a) || std::isnan(b) ? NAN : result; };
  add_both("MinMax", name, half, 2, [maximum](const Half& h, const u64* s) {
    return h.out(chosen(h.in(s[0]), h.in(s[1]), maximum));
  }, cases);
  Half nan = half;
  nan.modifiers += ".NaN";
  add_both("MinMax", name, nan, 2, [maximum, keep_nan](const Half& h, const u64* s) {
    return h.out(keep_nan(h.in(s[0]), h.in(s[1]), chosen(h.in(s[0]), h.in(s[1]), maximum)));
  }, cases);
  Half xorsign = half;
  xorsign.modifiers += ".xorsign.abs";
  add_both("MinMax", name, xorsign, 2, [maximum](const Half& h, const u64* s) {
    const double result = chosen(std::fabs(h.in(s[0])), std::fabs(h.in(s[1])), maximum);
    return std::isnan(result) ? u64{0x7fff} : h.out(result) | ((s[0] ^ s[1]) & 0x8000);
  }, cases);
}

void add_signs(const Half& half, std::vector<Case>& cases) {
  const auto flush = [](const Half& h, u64 code) { return h.ftz && h.subnormal(code) ? code & 0x8000 : code; };
  add_both("Neg", "neg", half, 1, [flush](const Half& h, const u64* s) { return std::isnan(h.in(s[0])) ? u64{0x7fff} : flush(h, s[0]) ^ 0x8000; }, cases);
  add_both("Abs", "abs", half, 1, [flush](const Half& h, const u64* s) { return std::isnan(h.in(s[0])) ? u64{0x7fff} : flush(h, s[0]) & 0x7fff; }, cases);
}

void add_approximations(std::vector<Case>& cases) {
  for (const Half& half : {Half{"f16", false, ".approx"}, Half{"bf16", true, ".approx.ftz", true}})
    add_both("Approximation", "ex2", half, 1,
             [](const Half& h, const u64* s) { return h.out(std::exp2(h.in(s[0]))); }, cases, 1);
  for (const Half& half : {Half{"f16", false, ".approx"}, Half{"bf16", true, ".approx"}})
    add_both("Approximation", "tanh", half, 1,
             [](const Half& h, const u64* s) { return h.out(std::tanh(h.in(s[0]))); }, cases, 8);
}

}  // namespace

std::vector<Case> half_cases() {
  std::vector<Case> cases;
  for (const Half& half : kPlain) {
    add_sums(half, cases);
    add_fma(half, cases);
    Half relu = half;
    relu.modifiers = ".relu";
    relu.relu = true;
    add_fma(relu, cases);
    for (const bool maximum : {false, true}) add_choices(half, maximum, cases);
    add_signs(half, cases);
  }
  for (const Half& half : {Half{"f16", false, ".ftz", true}, Half{"f16", false, ".sat", false, true},
                           Half{"f16", false, ".ftz.sat", true, true}}) {
    add_sums(half, cases);
    add_fma(half, cases);
  }
  const Half ftz{"f16", false, ".ftz", true};
  add_signs(ftz, cases);
  add_choices(ftz, true, cases);
  add_approximations(cases);
  return cases;
}

}  // namespace onelaunch::emu::bench
