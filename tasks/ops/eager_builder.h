#pragma once
// Collects the kernels, buffers and launches of the eager baseline while the ops describe theirs.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tasks/eager.h"
#include "tasks/ops/op.h"

namespace onelaunch::tasks {

// One kernel parameter: what it points to and its C type; or position or capacity.
struct EagerOperand {
  EagerArgument::Kind kind = EagerArgument::Kind::buffer;
  std::string buffer;
  std::string type;  // "bf16*", "float*", "unsigned char*", "int*", "long long"
};

struct EagerKernel {
  std::string function;  // "linear<2304, 64>": a device function of the source, with its constants
  std::vector<EagerOperand> operands;
  std::int64_t grid = 1, block = 256;
};

class EagerBuilder {
 public:
  EagerBuilder(std::int64_t capacity, EagerSums sums) : capacity_(capacity), sums_(sums) {}

  std::int64_t capacity() const { return capacity_; }

  void source(const char* device_functions);  // added once, however often it is asked for
  EagerOperand buffer(const std::string& name, std::int64_t elements, DType dtype);
  void launch(const OpView& view, const EagerKernel& kernel);
  // Before the launch that chooses.
  void routing(EagerRouting routing) {
    routing.launches = plan_.launches.size();
    plan_.routings.push_back(std::move(routing));
  }

  static EagerOperand of(const Operand& operand);                            // a tensor or a result
  static EagerOperand part(const Operand& int4_weight, const char* member);  // "packed", "scale", "zero"
  static EagerOperand position() { return {EagerArgument::Kind::position, {}, "long long"}; }
  static EagerOperand capacity_word() { return {EagerArgument::Kind::capacity, {}, "long long"}; }

  EagerPlan take();

 private:
  std::int64_t capacity_;
  EagerSums sums_;
  std::vector<const char*> sources_;
  std::map<std::string, std::string> entries_;  // by function and parameter types
  std::set<std::string> buffer_names_;
  std::string wrappers_;
  EagerPlan plan_;
};

// "name<a, b, c>"
std::string instance(const std::string& function, std::initializer_list<std::int64_t> constants);

// A constant that is no integer travels as the bits of a double.
std::int64_t double_bits(double value);

constexpr std::int64_t blocks_for(std::int64_t items, std::int64_t per_block) {
  return (items + per_block - 1) / per_block;
}

}  // namespace onelaunch::tasks
