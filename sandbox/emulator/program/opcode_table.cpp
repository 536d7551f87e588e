#include "sandbox/emulator/program/opcode_table.h"

#include <algorithm>
#include <unordered_map>

namespace onelaunch::emu {

bool Modifiers::take(std::string_view modifier) {
  const auto found = std::find(left_.begin(), left_.end(), modifier);
  if (found == left_.end()) return false;
  left_.erase(found);
  return true;
}

std::string_view Modifiers::take_one_of(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (take(name)) return name;
  }
  return {};
}

std::string_view Modifiers::take_last() {
  if (left_.empty()) return {};
  const std::string_view last = left_.back();
  left_.pop_back();
  return last;
}

const OpcodeRow* find_opcode(std::string_view opcode) {
  static const std::unordered_map<std::string_view, const OpcodeRow*> kRows = [] {
    std::unordered_map<std::string_view, const OpcodeRow*> rows;
    for (const auto& table : {arithmetic_rows(), memory_rows(), control_rows()}) {
      for (const OpcodeRow& row : table) rows.emplace(row.opcode, &row);
    }
    return rows;
  }();
  const auto found = kRows.find(opcode);
  return found == kRows.end() ? nullptr : found->second;
}

}  // namespace onelaunch::emu
