// What operations call outside their own library, as simple stand-ins.

#include <algorithm>
#include <string>

#include "sandbox/emulator/exec/warp.h"
#include "sandbox/emulator/program/opcode_table.h"
#include "tests/sandbox/emulator/ops/surroundings.h"

namespace onelaunch::emu {

bool Modifiers::take(std::string_view modifier) {
  const auto found = std::find(left_.begin(), left_.end(), modifier);
  if (found == left_.end()) return false;
  left_.erase(found);
  return true;
}

std::string_view Modifiers::take_one_of(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (take(name)) return name;
  return {};
}

std::string_view Modifiers::take_last() {
  if (left_.empty()) return {};
  const std::string_view last = left_.back();
  left_.pop_back();
  return last;
}

std::vector<std::string>& bench::faults() {
  static std::vector<std::string> list;
  return list;
}

void report_fault(Warp&, const DecodedOp&, std::uint32_t, const std::string& what) { bench::faults().push_back(what); }

std::uint64_t special_register(const Warp&, std::uint32_t which, std::uint32_t lane) {
  return which == 1 ? lane : (std::uint64_t{which} << 33) + lane;
}

Result<std::uint32_t> special_register_number(std::string_view name) {
  if (name == "%laneid") return 1u;
  if (name == "%clock64") return 2u;
  return invalid("special register " + std::string(name) + " is not implemented");
}

}  // namespace onelaunch::emu
