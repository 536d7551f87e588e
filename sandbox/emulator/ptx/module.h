#pragma once
// PTX as text says it: names, scopes and order kept; nothing resolved. Built by ptx/parser, read by program/lower.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace onelaunch::emu::ptx {

enum class Space { reg, global, shared, local, param, constant };

struct Operand {
  enum class Kind {
    reg,        // index: into Function::registers (its name is there)
    integer,    // value: bits of an integer literal
    real,       // value: bits of a 0f (32 bits) or 0d, 1.5 (64 bits) literal; wide says which
    symbol,     // name: a variable, function or label; offset: symbol+offset
    special,    // name: "%tid.x"
    address,    // [base+offset]: base is a reg (index >= 0) or a symbol (name) or nothing; elements: tensor coordinates
    vector,     // {a, b, ...}: elements; also (a, b) of a call
    sink,       // _
  };
  Kind kind = Kind::sink;
  std::string name;
  int index = -1;
  std::uint64_t value = 0;
  std::int64_t offset = 0;
  bool wide = false;
  bool negated = false;              // !%p
  std::vector<Operand> elements;     // of a vector; of "%r|%p": kind vector, with two elements, is_pair set
  bool is_pair = false;
};

struct Instruction {
  int line = 0;                      // in the PTX text, from 1
  int location = -1;                 // index into Module::locations
  int guard = -1;                    // register index of @%p, -1 none
  bool guard_negated = false;
  std::string opcode;                // "ld"
  std::vector<std::string> modifiers;  // "global", "nc", "v4", "u32", "L1::no_allocate", in order, without dots
  std::vector<Operand> operands;
  bool has(std::string_view modifier) const;
};

struct Register {
  std::string name;                  // "%r12"
  std::string type;                  // "b32", "pred", "f32", "b64", "b16", ...
};

struct Variable {
  std::string name;
  Space space = Space::global;
  std::size_t alignment = 1, bytes = 0;
  bool external = false;             // .extern: dynamic shared memory, or undefined
  std::vector<std::byte> initial;    // empty, or `bytes` long
  struct Reference { std::size_t offset; std::string symbol; std::int64_t addend; };
  std::vector<Reference> references; // addresses inside `initial`
};

// A source position, chained to the call site it was inlined at.
struct Location {
  int file = 0, line = 0, column = 0;
  int inlined_at = -1;               // index into Module::locations
  std::string function;
};

struct Function {
  std::string name;
  bool entry = false;
  int line = 0;
  std::vector<Variable> parameters, results;
  std::vector<Variable> variables;   // .shared, .local and .param of the body, scopes made unique
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  std::map<std::string, std::size_t> labels;  // label (scopes made unique) -> index of the next instruction
  int threads_max = 0;               // .maxntid product; 0 none
  int blocks_per_sm_min = 0;         // .minnctapersm
  int cluster_blocks = 0;            // .reqnctapercluster product; 0 none
  std::map<std::string, std::vector<std::string>> branch_targets;  // .branchtargets of brx.idx
};

struct Module {
  std::string version, target;
  int address_bits = 64;
  std::vector<Variable> variables;   // .global, .const, .shared at module scope
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::map<int, std::string> files;
  const Function* find(std::string_view name) const;
  // "kernel.cu:212 (inlined at kernel.cu:540)"; empty when there is no line information.
  std::string where(int location) const;
};

// Fails (invalid_input) with the PTX line and what was not understood.
Result<Module> parse(std::string_view text);

}  // namespace onelaunch::emu::ptx
