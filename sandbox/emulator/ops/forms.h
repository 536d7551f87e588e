#pragma once
// The two steps from an instruction to a DecodedOp: which form (opcode and type) it is, and where its operands lie.

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sandbox/emulator/ops/types.h"
#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu::ops {

// The unmasked and the masked instance of one operation.
struct OpFns {
  OpFn full = nullptr, masked = nullptr;
};

struct Request {
  DecodeContext& context;
  const LoweredInstruction& instruction;
  Modifiers& modifiers;
  Type type;  // the instruction's last type modifier, already taken
};

using TypedFactory = Result<DecodedOp> (*)(Request& request);

struct Form {
  std::string_view opcode;
  TypeSet types;
  TypedFactory make;
};

// The last modifier that is a type, taken.
std::optional<Type> take_type(Modifiers& modifiers);

// Finds the form of the instruction's opcode and last type in `families`, and makes it.
Result<DecodedOp> make_from_forms(std::span<const std::span<const Form>> families, DecodeContext& context,
                                  const LoweredInstruction& instruction, Modifiers& modifiers);

// Turns operands into offsets; remembers the first thing that is wrong, which finish() then returns.
class OperandReader {
 public:
  explicit OperandReader(const Request& request)
      : context_(request.context), operands_(request.instruction.operands) {}
  OperandReader(DecodeContext& context, const LoweredInstruction& instruction)
      : context_(context), operands_(instruction.operands) {}

  void expect(std::size_t count_min, std::size_t count_max);
  void expect(std::size_t count) { expect(count, count); }
  std::size_t count() const { return operands_.size(); }
  const LoweredOperand& operand(std::size_t i) const;

  std::uint32_t destination(std::size_t i, Type type) { return destination(operand(i), type); }
  std::uint32_t destination(const LoweredOperand& operand, Type type);   // refuses sinks
  std::uint32_t source(std::size_t i, Type type) { return source(operand(i), type); }
  std::uint32_t source(const LoweredOperand& operand, Type type);
  // A destination that may be `_` or absent: kNoOperand.
  std::uint32_t optional_destination(const LoweredOperand& operand, Type type);
  std::uint32_t negated(std::size_t i) const { return operand(i).negated ? 1u : 0u; }
  std::uint32_t list(std::initializer_list<std::uint32_t> offsets);
  std::uint32_t list(std::span<const std::uint32_t> offsets);
  void fail_with(const std::string& what);

  Result<DecodedOp> finish(const DecodedOp& op) const;

 private:
  DecodeContext& context_;
  std::span<const LoweredOperand> operands_;
  std::string error_;
};

// An operation of one destination and up to three sources in a, b, c.
Result<DecodedOp> make_op(const Request& request, OpFns fns, Type destination, std::initializer_list<Type> sources,
                          CostClass cost = CostClass::alu, std::uint32_t extra = 0, std::uint64_t imm = 0);

DecodedOp start_op(OpFns fns, CostClass cost);

}  // namespace onelaunch::emu::ops
