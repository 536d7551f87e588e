#include "sandbox/emulator/program/variables.h"

#include <algorithm>

namespace onelaunch::emu {
namespace {

template <class T>
T align(T value, std::size_t alignment) {
  return static_cast<T>((value + alignment - 1) / alignment * alignment);
}

void note_symbols(const ptx::Operand& operand, std::set<std::string>& used) {
  if (!operand.name.empty()) used.insert(operand.name);
  for (const ptx::Operand& element : operand.elements) note_symbols(element, used);
}

const ptx::Operand* callee_of(const ptx::Instruction& call) {
  for (const ptx::Operand& operand : call.operands) {
    if (operand.kind == ptx::Operand::Kind::symbol || operand.kind == ptx::Operand::Kind::reg) return &operand;
  }
  return nullptr;
}

}  // namespace

bool is_provided(const std::string& function) { return function == "vprintf" || function == "__assertfail"; }

Result<Variables> Variables::place(const ptx::Module& module, const ptx::Function& entry,
                                   const SymbolAddresses& symbols) {
  Variables result;
  for (const auto& [name, address] : symbols) result.of_module_[name] = {ptx::Space::global, address};
  for (const ptx::Variable& parameter : entry.parameters) {
    result.param_bytes = align(result.param_bytes, parameter.alignment);
    result.of_function_[&entry][parameter.name] = {ptx::Space::param, result.param_bytes};
    result.param_bytes += static_cast<std::uint32_t>(parameter.bytes);
  }
  if (const auto visited = result.visit(module, entry); !visited) return because(visited.error());
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::shared && result.used_.contains(variable.name)) {
      result.place_shared(variable, result.of_module_);
    }
  }
  result.place_dynamic_shared();
  return result;
}

Result<void> Variables::visit(const ptx::Module& module, const ptx::Function& function) {
  if (std::find(visiting_.begin(), visiting_.end(), &function) != visiting_.end()) {
    return invalid("function " + function.name + " calls itself: recursion is not implemented");
  }
  if (!visited_.insert(&function).second) return {};
  place_locals(function);
  visiting_.push_back(&function);
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const ptx::Operand& operand : instruction.operands) note_symbols(operand, used_);
    if (instruction.opcode != "call") continue;
    const ptx::Operand* const callee = callee_of(instruction);
    const std::string where = "PTX line " + std::to_string(instruction.line) + ": ";
    if (callee == nullptr || callee->kind != ptx::Operand::Kind::symbol) {
      return invalid(where + "calls through pointers are not implemented");
    }
    const ptx::Function* const next = module.find(callee->name);
    if (next == nullptr && !is_provided(callee->name)) {
      return invalid(where + "function " + callee->name + " is not defined and the emulator does not provide it");
    }
    if (next == nullptr) continue;
    if (const auto visited = visit(module, *next); !visited) return because(visited.error());
  }
  visiting_.pop_back();
  return {};
}

// Without recursion one place per variable is enough, however often its function is inlined.
void Variables::place_locals(const ptx::Function& function) {
  std::map<std::string, Address>& scope = of_function_[&function];
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::shared) place_shared(variable, scope);
    if (variable.space != ptx::Space::local) continue;
    local_bytes = align(local_bytes, variable.alignment);
    scope[variable.name] = {ptx::Space::local, local_bytes};
    local_bytes += static_cast<std::uint32_t>(variable.bytes);
  }
}

void Variables::place_shared(const ptx::Variable& variable, std::map<std::string, Address>& scope) {
  Address& address = scope[variable.name];
  address.space = ptx::Space::shared;
  if (variable.external) {
    dynamic_.push_back(&address);
    dynamic_alignment_ = std::max(dynamic_alignment_, variable.alignment);
    return;
  }
  // Aligned as an address: kSharedStart itself is aligned to 1024 only.
  const std::uint32_t offset = align(kSharedStart + shared_static_bytes, variable.alignment);
  address.value = offset;
  shared_static_bytes = offset - kSharedStart + static_cast<std::uint32_t>(variable.bytes);
}

// Every .extern .shared variable is the same memory, behind the static ones.
void Variables::place_dynamic_shared() {
  if (dynamic_.empty()) return;
  shared_static_bytes = align(kSharedStart + shared_static_bytes, dynamic_alignment_) - kSharedStart;
  for (Address* const address : dynamic_) address->value = kSharedStart + shared_static_bytes;
}

const Variables::Address* Variables::find(const ptx::Function& function, const std::string& symbol) const {
  const auto scope = of_function_.find(&function);
  if (scope != of_function_.end()) {
    const auto found = scope->second.find(symbol);
    if (found != scope->second.end()) return &found->second;
  }
  const auto found = of_module_.find(symbol);
  return found == of_module_.end() ? nullptr : &found->second;
}

}  // namespace onelaunch::emu
