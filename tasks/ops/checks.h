#pragma once
// Checks that several op kinds share in their shape inference.

#include <optional>
#include <string>

#include "tasks/ops/op.h"

namespace onelaunch::tasks {

// The first broken rule of an op; nothing when it is sound. `holds` is evaluated by the caller.
class Checks {
 public:
  Checks& require(bool holds, const std::string& rule) {
    if (!holds && !broken_) broken_ = rule;
    return *this;
  }
  // The operand is a vector of floats with that many elements.
  Checks& vector(const Operand& operand, std::int64_t elements) {
    floats(operand);
    return require(operand.shape == std::vector{elements},
                   operand.name + " must be a vector of " + std::to_string(elements));
  }
  Checks& vector(const Operand& operand) {
    floats(operand);
    return require(operand.shape.size() == 1, operand.name + " must be a vector");
  }
  Checks& type(const Operand& operand, DType dtype) {
    return require(operand.dtype == dtype, operand.name + " must be " + name_of(dtype));
  }
  Checks& floats(const Operand& operand) {
    return require(operand.dtype == DType::f32 || operand.dtype == DType::bf16, operand.name + " must be f32 or bf16");
  }
  Result<std::vector<Value>> gives(std::vector<Value> values) const {
    if (broken_) return invalid(*broken_);
    return values;
  }
  explicit operator bool() const { return !broken_; }

 private:
  std::optional<std::string> broken_;
};

// Extent i of an operand, 0 when it has fewer: lets checks name what is wrong instead of stumbling over it.
inline std::int64_t extent(const Operand& operand, std::size_t i) {
  return i < operand.shape.size() ? operand.shape[i] : 0;
}

}  // namespace onelaunch::tasks
