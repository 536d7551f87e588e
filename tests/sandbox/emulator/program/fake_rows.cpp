#include "tests/sandbox/emulator/program/fake_rows.h"

#include <gtest/gtest.h>

#include <array>

#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {
namespace {

void do_nothing(Warp&, const DecodedOp&, std::uint32_t) {}

Result<DecodedOp> fake(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  while (!modifiers.left().empty() && modifiers.left().front() != "foo") modifiers.take(modifiers.left().front());
  DecodedOp op;
  op.full = op.masked = do_nothing;
  std::uint32_t* const places[] = {&op.dst, &op.a, &op.b, &op.c};
  std::vector<std::uint32_t> list;
  bool constant_seen = false;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const LoweredOperand& operand = instruction.operands[i];
    if (i < 4) *places[i] = operand.offset;
    for (const LoweredOperand& element : operand.elements) list.push_back(element.offset);
    if (operand.address_offset != 0) op.imm += static_cast<std::uint64_t>(operand.address_offset);
    if (operand.constant && !constant_seen) op.imm += operand.value;
    constant_seen |= operand.constant;
  }
  op.list = context.add_list(list);
  op.extra = static_cast<std::uint32_t>(list.size());
  if (instruction.opcode == "bar") op.cost = CostClass::barrier;
  if (instruction.opcode == "ld" || instruction.opcode == "st") op.cost = CostClass::load_store;
  return op;
}

constexpr std::string_view kOpcodes[] = {"mov", "add", "sub", "mul", "mad", "fma", "cvt", "setp", "selp", "and", "or",
                                         "shl", "shr", "shfl", "xor", "neg", "prmt", "lop3", "wgmma"};
constexpr std::string_view kMemoryOpcodes[] = {"ld", "st", "atom", "red", "cvta", "mbarrier"};

template <std::size_t N>
std::array<OpcodeRow, N> rows_of(const std::string_view (&opcodes)[N]) {
  std::array<OpcodeRow, N> rows{};
  for (std::size_t i = 0; i < N; ++i) rows[i] = {opcodes[i], fake, "fake"};
  return rows;
}

}  // namespace

std::span<const OpcodeRow> arithmetic_rows() {
  static const auto rows = rows_of(kOpcodes);
  return rows;
}
std::span<const OpcodeRow> memory_rows() {
  static const auto rows = rows_of(kMemoryOpcodes);
  return rows;
}
std::span<const OpcodeRow> control_rows() {
  static const std::array<OpcodeRow, 1> rows{{{"bar", fake, "fake"}}};
  return rows;
}

std::string entry(const std::string& statements, const std::string& parameters) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(" + parameters + ")\n{\n" + statements +
         "\n}\n";
}

std::shared_ptr<const Program> decoded(const std::string& ptx, const SymbolAddresses& symbols) {
  auto module = ptx::parse(ptx);
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return std::make_shared<Program>();
  }
  auto program = decode(std::make_shared<const ptx::Module>(std::move(*module)), "k", symbols);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return std::make_shared<Program>();
  }
  return *program;
}

std::string refusal_of(const std::string& ptx) {
  auto module = ptx::parse(ptx);
  if (!module) return module.error().message;
  const auto program = decode(std::make_shared<const ptx::Module>(std::move(*module)), "k", {});
  return program ? std::string() : program.error().message;
}

std::vector<DecodedOp> ops_of(const Program& program, const std::string& opcode) {
  std::vector<DecodedOp> found;
  for (const DecodedOp& op : program.ops) {
    const bool pseudo = op.control == Control::block || op.control == Control::reconverge;
    if (!pseudo && program.sites[op.site].opcode.starts_with(opcode)) found.push_back(op);
  }
  return found;
}

std::vector<std::string> opcodes(const Program& program) {
  std::vector<std::string> names;
  for (const DecodedOp& op : ops_of(program, "")) names.push_back(program.sites[op.site].opcode);
  return names;
}

}  // namespace onelaunch::emu
