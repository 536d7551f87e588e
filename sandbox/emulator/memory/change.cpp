#include "sandbox/emulator/memory/change.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/bfloat16.h"
#include "sandbox/emulator/memory/half.h"

namespace onelaunch::emu {
namespace {

template <class T>
T change_integer(Change change, T old, T operand, T replacement) {
  switch (change) {
    case Change::add: return static_cast<T>(static_cast<std::uint64_t>(old) + static_cast<std::uint64_t>(operand));
    case Change::min: return std::min(old, operand);
    case Change::max: return std::max(old, operand);
    case Change::and_: return static_cast<T>(old & operand);
    case Change::or_: return static_cast<T>(old | operand);
    case Change::xor_: return static_cast<T>(old ^ operand);
    case Change::exch: return operand;
    case Change::cas: return old == operand ? replacement : old;
    case Change::inc: return static_cast<T>(old >= operand ? 0 : old + 1);
    case Change::dec: return static_cast<T>(old == 0 || old > operand ? operand : old - 1);
  }
  return old;
}

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// Global f32 additions flush subnormal operands and results, shared ones keep them (measured on an H200).
std::uint64_t add_float(std::uint64_t old, std::uint64_t operand, bool flush) {
  float a = std::bit_cast<float>(static_cast<std::uint32_t>(old)), b = std::bit_cast<float>(static_cast<std::uint32_t>(operand));
  if (flush) a = flushed(a), b = flushed(b);
  float sum = a + b;
  if (flush) sum = flushed(sum);
  return std::isnan(sum) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(sum);
}

template <class ToFloat, class FromDouble>
std::uint64_t change_half(Change change, std::uint64_t old, std::uint64_t operand, ToFloat widen, FromDouble narrow) {
  const double a = widen(static_cast<std::uint16_t>(old)), b = widen(static_cast<std::uint16_t>(operand));
  if (change == Change::add) return narrow(a + b);  // exact in double
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? operand : old;
  const bool take = change == Change::min ? (b < a || (b == a && std::signbit(b))) : (b > a || (b == a && !std::signbit(b)));
  return take ? operand : old;
}

std::uint64_t change_double(std::uint64_t old, std::uint64_t operand) {
  const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(operand);
  return std::isnan(sum) ? 0x7fffffffffffffffull : std::bit_cast<std::uint64_t>(sum);
}

std::uint64_t changed(AtomicForm form, unsigned bytes, std::uint64_t old, std::uint64_t operand, std::uint64_t replacement, bool flush) {
  const bool bitwise = form.change == Change::exch || form.change == Change::cas;
  if (!bitwise) {
    switch (form.number) {
      case Number::f32: return add_float(old, operand, flush);
      case Number::f64: return change_double(old, operand);
      case Number::f16: return change_half(form.change, old, operand, half_to_float, double_to_half);
      case Number::bf16: return change_half(form.change, old, operand, bf16_to_float, double_to_bf16);
      default: break;
    }
  }
  if (form.number == Number::signed_ && bytes == 4) {
    return static_cast<std::uint32_t>(change_integer(form.change, static_cast<std::int32_t>(old), static_cast<std::int32_t>(operand),
                                                     static_cast<std::int32_t>(replacement)));
  }
  if (form.number == Number::signed_) {
    return static_cast<std::uint64_t>(change_integer(form.change, static_cast<std::int64_t>(old), static_cast<std::int64_t>(operand),
                                                     static_cast<std::int64_t>(replacement)));
  }
  if (bytes == 2) return change_integer(form.change, static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand), static_cast<std::uint16_t>(replacement));
  if (bytes == 4) return change_integer(form.change, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(operand), static_cast<std::uint32_t>(replacement));
  return change_integer(form.change, old, operand, replacement);
}

}  // namespace

std::uint64_t changed_register(AtomicForm atomic, unsigned bytes, std::uint64_t old, std::uint64_t operand, std::uint64_t replacement, bool flush) {
  if (!atomic.packed) return changed(atomic, bytes, old, operand, replacement, flush);
  const std::uint64_t low = changed(atomic, 2, old & 0xffff, operand & 0xffff, 0, flush);
  return low | changed(atomic, 2, old >> 16 & 0xffff, operand >> 16 & 0xffff, 0, flush) << 16;
}

Result<Change> take_change(Modifiers& modifiers) {
  constexpr std::string_view kNames[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    if (modifiers.take(kNames[i])) return static_cast<Change>(i);
  }
  return invalid("names no operation that is understood");
}

Result<AtomicForm> form_of(Change change, const ElementType& type) {
  AtomicForm form;
  form.change = change;
  form.packed = type.name.ends_with("x2");
  const bool floating = type.name.find('f') != std::string::npos;
  if (type.is_signed) form.number = Number::signed_;
  if (type.name.starts_with("f16")) form.number = Number::f16;
  if (type.name.starts_with("bf16")) form.number = Number::bf16;
  if (type.name == "f32") form.number = Number::f32;
  if (type.name == "f64") form.number = Number::f64;
  if (type.bytes == 16 || type.bytes == 1) return invalid("type ." + type.name + " is not implemented for atomics");
  const bool wide_float = type.name == "f32" || type.name == "f64";
  const bool plain = change == Change::exch || change == Change::cas;
  const bool allowed = !floating || plain || change == Change::add || (!wide_float && (change == Change::min || change == Change::max));
  if (!allowed) return invalid("type ." + type.name + " does not have this operation");
  return form;
}

}  // namespace onelaunch::emu
