#include "sandbox/emulator/memory/modifiers.h"

#include <algorithm>

namespace onelaunch::emu {

MemorySpace take_space(Modifiers& modifiers) {
  const std::string_view space = modifiers.take_one_of({"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                                                        "param::entry", "param::func", "const"});
  if (space.empty()) return MemorySpace::generic;
  if (space.starts_with("shared")) return MemorySpace::shared;
  if (space.starts_with("param")) return MemorySpace::param;
  return space == "local" ? MemorySpace::local : MemorySpace::global;
}

bool take_order(Modifiers& modifiers) {
  const std::string_view order =
      modifiers.take_one_of({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "seq_cst", "mmio"});
  const bool mmio = modifiers.take("mmio");  // may come beside .relaxed
  modifiers.take_one_of({"cta", "cluster", "gpu", "sys", "gl"});
  return mmio || (!order.empty() && order != "weak");
}

void take_cache_hints(Modifiers& modifiers) {
  modifiers.take_one_of({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  modifiers.take("nc");
  modifiers.take("unified");
  modifiers.take_one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  modifiers.take_one_of({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  modifiers.take("L2::cache_hint");
  modifiers.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
}

bool bypasses_l1(const Modifiers& modifiers) {
  for (const std::string_view modifier : modifiers.left())
    if (modifier == "L1::no_allocate" || modifier == "cg" || modifier == "cv") return true;
  return false;
}

unsigned take_vector(Modifiers& modifiers) {
  const std::string_view vector = modifiers.take_one_of({"v2", "v4", "v8"});
  return vector.empty() ? 1 : static_cast<unsigned>(vector[1] - '0');
}

Result<ElementType> take_type(Modifiers& modifiers) {
  ElementType type{std::string(modifiers.take_last()), 0, false};
  type.is_signed = type.name.starts_with('s');
  const std::string_view name = type.name;
  const auto one_of = [name](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (one_of({"b8", "u8", "s8"})) type.bytes = 1;
  if (one_of({"b16", "u16", "s16", "f16", "bf16"})) type.bytes = 2;
  if (one_of({"b32", "u32", "s32", "f32", "f16x2", "bf16x2"})) type.bytes = 4;
  if (one_of({"b64", "u64", "s64", "f64"})) type.bytes = 8;
  if (one_of({"b128"})) type.bytes = 16;
  if (type.bytes == 0) return invalid("type ." + type.name + " is not understood here");
  return type;
}

void set_address(DecodeContext& context, const LoweredOperand& operand, AccessForm& form, DecodedOp& op) {
  if (operand.constant) {
    form.wide_address = true;
    op.a = context.constant64(operand.value + static_cast<std::uint64_t>(operand.address_offset));
    op.imm = 0;
    return;
  }
  form.wide_address = operand.kind == LoweredOperand::Kind::row64;
  op.a = operand.offset;
  op.imm = static_cast<std::uint64_t>(operand.address_offset);
}

std::uint32_t value_row(DecodeContext& context, const LoweredOperand& operand, bool wide) {
  if (!operand.constant) return operand.offset;
  return wide ? context.constant64(operand.value) : context.constant32(static_cast<std::uint32_t>(operand.value));
}

}  // namespace onelaunch::emu
