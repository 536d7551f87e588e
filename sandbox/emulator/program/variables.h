#pragma once
// Where the variables that a kernel uses live: offsets in shared and local memory, parameter offsets, host addresses.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/program/program.h"
#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu {

class Variables {
 public:
  // Functions called from `entry` count as part of it. Fails on recursion and on unknown functions, by name.
  static Result<Variables> place(const ptx::Module& module, const ptx::Function& entry, const SymbolAddresses& symbols);

  struct Address {
    ptx::Space space = ptx::Space::global;
    std::uint64_t value = 0;  // within the space (host address of global and const)
  };
  // A symbol that `function` names; nothing when it is unknown. Parameters of functions other than the entry are not here.
  const Address* find(const ptx::Function& function, const std::string& symbol) const;

  std::uint32_t param_bytes = 0, shared_static_bytes = 0, local_bytes = 0;

 private:
  Result<void> visit(const ptx::Module& module, const ptx::Function& function);
  void place_locals(const ptx::Function& function);
  void place_shared(const ptx::Variable& variable, std::map<std::string, Address>& scope);
  void place_dynamic_shared();

  std::map<const ptx::Function*, std::map<std::string, Address>> of_function_;
  std::map<std::string, Address> of_module_;
  std::vector<Address*> dynamic_;
  std::size_t dynamic_alignment_ = 1;
  std::set<std::string> used_;                   // symbols that instructions name
  std::set<const ptx::Function*> visited_;
  std::vector<const ptx::Function*> visiting_;   // the chain of calls, to find recursion
};

// Functions of the runtime that the emulator itself provides.
bool is_provided(const std::string& function);

}  // namespace onelaunch::emu
