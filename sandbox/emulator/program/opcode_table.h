#pragma once
// From opcode and modifiers to a DecodedOp: one table, collected from the folders that implement the operations.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// An operand after lowering: a slot in the warp's registers, or a known constant.
// Constants (literals, and registers with one constant definition) have a valid `offset` too: a splatted constant row
// of the operand's kind, so a factory that does not care about constants just uses `offset`. `value` is masked to the
// width (16-bit literals to 16 bits). A literal's kind follows the instruction's type: row64 for 64-bit types, except
// shift amounts, bit-field positions, mul.wide and mad.wide factors, and mbarrier counts and parities: row32.
// The sink `_` is Kind::none. A 128-bit register is a vector of two row64, low half first.
// Addresses: [reg+8] is the register's row with address_offset 8. [symbol+8] is a constant: shared (row32: offset in the
// block's shared memory), local and param (row32: plain offset, no window), global and const (row64: host address).
// `mov %rd, symbol` gives the same plain numbers; cvta.{shared,local,param} adds the window, cvta.to.* takes it off.
// cvta of global and const pointers never reaches a factory: the lowering copies.
struct LoweredOperand {
  enum class Kind { none, row32, row64, predicate, special, vector };
  Kind kind = Kind::none;
  std::uint32_t offset = kNoOperand;   // byte offset for DecodedOp (bit 31 set for constants)
  bool constant = false;               // an immediate, or a register with one constant definition
  std::uint64_t value = 0;             // of a constant
  bool negated = false;                // !%p
  std::string special;                 // "%tid.x", "%laneid": name of a special register
  std::vector<LoweredOperand> elements;
  std::int64_t address_offset = 0;     // of [base + offset]; the base is this operand (constant 0 when absent)
};

struct LoweredInstruction {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<LoweredOperand> operands;  // in PTX order, destinations first; "%r|%p" is a vector of two
  int line = 0;
};

// What a factory may ask for while decoding.
class DecodeContext {
 public:
  virtual ~DecodeContext() = default;
  virtual std::uint32_t constant32(std::uint32_t value) = 0;  // offset of a splatted row, bit 31 set
  virtual std::uint32_t constant64(std::uint64_t value) = 0;
  virtual std::uint32_t constant_predicate(bool value) = 0;
  virtual std::uint32_t add_list(std::span<const std::uint32_t> operands) = 0;  // returns DecodedOp::list
};

// A set of modifiers from which a factory takes what it understands; what stays is refused by the caller.
class Modifiers {
 public:
  explicit Modifiers(std::span<const std::string_view> all) : left_(all.begin(), all.end()) {}
  bool take(std::string_view modifier);                       // true if it was there
  // Takes the one present of several; empty when none is.
  std::string_view take_one_of(std::initializer_list<std::string_view> names);
  std::string_view take_last();                               // usually the type
  std::span<const std::string_view> left() const { return left_; }

 private:
  std::vector<std::string_view> left_;
};

// Fills everything of the op but guard, site, target and control-flow fields. Errors are completed with line and
// opcode by the caller. Modifiers left over are refused by the caller.
using Factory = Result<DecodedOp> (*)(DecodeContext& context, const LoweredInstruction& instruction,
                                      Modifiers& modifiers);

struct OpcodeRow {
  std::string_view opcode;   // "fma"
  Factory factory;
  std::string_view test;     // name of the conformance test that covers it
};

std::span<const OpcodeRow> arithmetic_rows();  // ops/: integer, float, half, convert, predicate, warp, matrix, double
std::span<const OpcodeRow> memory_rows();      // memory/: ld st atom red ldmatrix stmatrix cp.async prefetch ...
std::span<const OpcodeRow> control_rows();     // exec/: bra ret exit trap bar barrier nanosleep fence membar ...

const OpcodeRow* find_opcode(std::string_view opcode);

}  // namespace onelaunch::emu
