#include "sandbox/emulator/ops/comparison.h"

namespace onelaunch::emu::OL_OPS_LEVEL {
namespace {

struct Named {
  std::string_view name;
  Comparison comparison;
};

constexpr Named kOfIntegers[] = {
    {"eq", {Test::equal, false, false}}, {"ne", {Test::equal, false, true}},
    {"lt", {Test::less, false, false}},  {"le", {Test::less, true, true}},
    {"gt", {Test::less, true, false}},   {"ge", {Test::less, false, true}},
    {"lo", {Test::less, false, false}},  {"ls", {Test::less, true, true}},
    {"hi", {Test::less, true, false}},   {"hs", {Test::less, false, true}},
};

// An unordered comparison is the opposite of the ordered opposite.
constexpr Named kOfFloats[] = {
    {"eq", {Test::equal, false, false}},          {"ne", {Test::ordered_not_equal, false, false}},
    {"lt", {Test::less, false, false}},           {"le", {Test::less_or_equal, false, false}},
    {"gt", {Test::less, true, false}},            {"ge", {Test::less_or_equal, true, false}},
    {"equ", {Test::ordered_not_equal, false, true}}, {"neu", {Test::equal, false, true}},
    {"ltu", {Test::less_or_equal, true, true}},   {"leu", {Test::less, true, true}},
    {"gtu", {Test::less_or_equal, false, true}},  {"geu", {Test::less, false, true}},
    {"num", {Test::ordered, false, false}},       {"nan", {Test::ordered, false, true}},
};

std::optional<Comparison> find(std::span<const Named> names, std::string_view name) {
  for (const Named& named : names)
    if (named.name == name) return named.comparison;
  return std::nullopt;
}

bool is_float(ops::Type type) {
  using ops::Type;
  constexpr ops::TypeSet kFloats = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2, Type::f32, Type::f64};
  return kFloats.contains(type);
}

}  // namespace

std::optional<Comparison> integer_comparison(std::string_view name) { return find(kOfIntegers, name); }
std::optional<Comparison> float_comparison(std::string_view name) { return find(kOfFloats, name); }

std::optional<Comparison> take_comparison(Modifiers& modifiers, ops::Type type) {
  const std::string_view name = modifiers.take_one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                                       "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  return is_float(type) ? float_comparison(name) : integer_comparison(name);
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
