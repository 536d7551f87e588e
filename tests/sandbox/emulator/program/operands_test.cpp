#include <gtest/gtest.h>

#include <cstring>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

// Value of lane `lane` in a constant row.
template <class T>
T constant(const Program& program, std::uint32_t operand, std::size_t lane) {
  T value{};
  EXPECT_NE(operand & kConstantBit, 0u);
  std::memcpy(&value, program.constants.data() + (operand & ~kConstantBit) + lane * sizeof value, sizeof value);
  return value;
}

const std::string kRegisters = ".reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n";

TEST(Operands, SplatLiteralsOverAllLanes) {
  const auto program = decoded(entry(kRegisters + "add.s32 %r1, %r2, -5; ret;"));
  const DecodedOp add = ops_of(*program, "add")[0];
  for (const std::size_t lane : {0u, 17u, 31u}) EXPECT_EQ(constant<std::int32_t>(*program, add.b, lane), -5);
  EXPECT_EQ(add.imm, 0xfffffffbu);
}

TEST(Operands, GiveLiteralsTheWidthOfTheType) {
  const auto program = decoded(entry(kRegisters + "add.s64 %rd1, %rd2, -5; add.s16 %rs1, %rs2, -5; ret;"));
  const auto adds = ops_of(*program, "add");
  EXPECT_EQ(constant<std::int64_t>(*program, adds[0].b, 31), -5);
  EXPECT_EQ(constant<std::uint32_t>(*program, adds[1].b, 31), 0xfffbu) << "16-bit values are zero-extended";
}

TEST(Operands, GiveShiftAmountsAndFactors32Bits) {
  const auto program = decoded(entry(kRegisters + "shl.b64 %rd1, %rd2, 4; mul.wide.s32 %rd3, %r1, 4; ret;"));
  EXPECT_EQ(ops_of(*program, "shl")[0].b, ops_of(*program, "mul")[0].b) << "one row of 32 bits serves both";
  EXPECT_EQ(program->constants.size(), 128u);
}

TEST(Operands, ConvertFloatLiteralsToTheType) {
  const auto program = decoded(entry(kRegisters + "add.f32 %f1, %f2, 1.5; ret;"));
  EXPECT_EQ(constant<float>(*program, ops_of(*program, "add")[0].b, 3), 1.5f);
}

TEST(Operands, KeepEachConstantOnce) {
  const auto program = decoded(entry(kRegisters + "add.s32 %r1, %r2, 7; add.s32 %r3, %r4, 7; ret;"));
  EXPECT_EQ(ops_of(*program, "add")[0].b, ops_of(*program, "add")[1].b);
}

TEST(Operands, PassAddressesWithTheirOffset) {
  const auto program = decoded(entry(kRegisters + "ld.global.u32 %r1, [%rd1+-16]; ret;"));
  const DecodedOp load = ops_of(*program, "ld")[0];
  EXPECT_EQ(load.imm, static_cast<std::uint64_t>(-16));
  EXPECT_EQ(load.a & kConstantBit, 0u);
}

TEST(Operands, PassVectorsAsLists) {
  const auto program = decoded(entry(kRegisters + "ld.global.v4.u32 {%r1, %r2, _, %r4}, [%rd1]; st.global.v2.u32 [%rd1], {%r1, 9}; ret;"));
  const DecodedOp load = ops_of(*program, "ld")[0], store = ops_of(*program, "st")[0];
  ASSERT_EQ(load.extra, 4u);
  EXPECT_EQ(program->operands[load.list + 2], kNoOperand);
  EXPECT_NE(program->operands[load.list], program->operands[load.list + 1]);
  EXPECT_EQ(constant<std::uint32_t>(*program, program->operands[store.list + 1], 8), 9u);
}

TEST(Operands, HalveTheTypeOfPackedLiterals) {
  const auto program = decoded(entry(kRegisters + "mov.b64 %rd1, {%r1, -1}; st.global.u64 [%rd2], %rd1; ret;"));
  const DecodedOp pack = ops_of(*program, "mov")[0];
  EXPECT_EQ(constant<std::uint32_t>(*program, program->operands[pack.list + 1], 0), 0xffffffffu);
  EXPECT_EQ(program->constants.size(), 128u);
}

TEST(Operands, SplitRegistersOf128Bits) {
  const auto program = decoded(entry(kRegisters + ".reg .b128 q; mov.b128 q, {%rd1, %rd2}; st.global.b128 [%rd3], q; ret;"));
  EXPECT_EQ(ops_of(*program, "st")[0].extra, 2u);
}

TEST(Operands, PassGuardsAndTheirNegation) {
  const auto program = decoded(entry(kRegisters + "setp.eq.u32 %p1, %r1, %r2; @!%p1 add.s32 %r3, %r3, 1; ret;"));
  const DecodedOp add = ops_of(*program, "add")[0];
  EXPECT_EQ(add.guard, ops_of(*program, "setp")[0].dst);
  EXPECT_TRUE(add.guard_negated);
}

}  // namespace
}  // namespace onelaunch::emu
