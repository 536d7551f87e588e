#pragma once
// PTX type modifiers as values.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace onelaunch::emu::ops {

enum class Type : std::uint8_t {
  pred, b8, u8, s8, b16, u16, s16, b32, u32, s32, b64, u64, s64, u16x2, s16x2,
  f16, f16x2, bf16, bf16x2, f32, f64, tf32, e4m3x2, e5m2x2,
};

std::optional<Type> parse_type(std::string_view name);  // "u32", without the dot
std::string_view type_name(Type type);
int type_bits(Type type);                                // of one value; pred 1, packed pairs their sum
bool is_signed(Type type);                               // s8 ... s64
bool is_wide(Type type);                                 // lives in 64-bit rows

class TypeSet {
 public:
  constexpr TypeSet(std::initializer_list<Type> types) {
    for (const Type type : types) bits_ |= 1u << static_cast<unsigned>(type);
  }
  constexpr bool contains(Type type) const { return (bits_ >> static_cast<unsigned>(type)) & 1u; }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace onelaunch::emu::ops
