#include "sandbox/emulator/ops/types.h"

#include <array>

namespace onelaunch::emu::ops {
namespace {

struct Entry {
  std::string_view name;
  int bits;
};

constexpr std::array<Entry, 24> kEntries = {{
    {"pred", 1},   {"b8", 8},     {"u8", 8},     {"s8", 8},   {"b16", 16},  {"u16", 16},
    {"s16", 16},   {"b32", 32},   {"u32", 32},   {"s32", 32}, {"b64", 64},  {"u64", 64},
    {"s64", 64},   {"u16x2", 32}, {"s16x2", 32}, {"f16", 16}, {"f16x2", 32}, {"bf16", 16},
    {"bf16x2", 32}, {"f32", 32},  {"f64", 64},   {"tf32", 32}, {"e4m3x2", 16}, {"e5m2x2", 16},
}};

}  // namespace

std::optional<Type> parse_type(std::string_view name) {
  for (std::size_t i = 0; i < kEntries.size(); ++i)
    if (kEntries[i].name == name) return static_cast<Type>(i);
  return std::nullopt;
}

std::string_view type_name(Type type) { return kEntries[static_cast<std::size_t>(type)].name; }
int type_bits(Type type) { return kEntries[static_cast<std::size_t>(type)].bits; }

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_wide(Type type) { return type_bits(type) == 64; }

}  // namespace onelaunch::emu::ops
