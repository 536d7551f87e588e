#include "sandbox/emulator/ptx/scopes.h"

#include <charconv>

namespace onelaunch::emu::ptx {

void Scopes::open() {
  scopes_.emplace_back();
  scopes_.back().id = opened_++;
}

void Scopes::close(std::vector<std::pair<LabelUse, std::string>>& resolved) {
  Scope closing = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<LabelUse>& outward = scopes_.empty() ? unresolved_ : scopes_.back().uses;
  for (const LabelUse& use : closing.uses) {
    const auto found = closing.labels.find(use.label);
    if (found == closing.labels.end()) {
      outward.push_back(use);
    } else {
      resolved.emplace_back(use, found->second);
    }
  }
}

std::string Scopes::unique(const std::string& name) const {
  return in_function_scope() ? name : name + "#" + std::to_string(scopes_.back().id);
}

void Scopes::declare_register(std::string_view name, int index) { scopes_.back().registers[name] = index; }

void Scopes::declare_registers(std::string_view prefix, int count, int first) {
  scopes_.back().ranges.push_back({prefix, count, first});
}

std::string Scopes::declare_variable(const std::string& name) {
  return scopes_.back().variables[name] = unique(name);
}

std::string Scopes::declare_label(const std::string& name) { return scopes_.back().labels[name] = unique(name); }

int Scopes::find_register(std::string_view name) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  int number = -1;
  if (digits < name.size()) std::from_chars(name.data() + digits, name.data() + name.size(), number);
  const std::string_view prefix = name.substr(0, digits);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (!scope->registers.empty()) {
      const auto found = scope->registers.find(name);
      if (found != scope->registers.end()) return found->second;
    }
    if (number < 0) continue;
    for (const Range& range : scope->ranges) {
      if (range.prefix == prefix && number < range.count) return range.first + number;
    }
  }
  return -1;
}

const std::string* Scopes::find_variable(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace onelaunch::emu::ptx
