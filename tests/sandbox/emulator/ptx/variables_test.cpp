#include <cstring>

#include "tests/sandbox/emulator/ptx/parsed.h"

namespace onelaunch::emu::ptx {
namespace {

Variable only(const std::string& declaration) {
  const Module module = parsed(declaration);
  return module.variables.empty() ? Variable{} : module.variables[0];
}

template <class T>
T element(const Variable& variable, std::size_t index) {
  T value{};
  std::memcpy(&value, variable.initial.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(PtxVariables, FillsWhatAnInitialiserLeavesOut) {
  const Variable table = only(".const .align 4 .b8 table[8] = {1, 0, 255};");
  EXPECT_EQ(table.space, Space::constant);
  EXPECT_EQ(table.alignment, 4u);
  ASSERT_EQ(table.initial.size(), 8u);
  EXPECT_EQ(table.initial[2], std::byte{255});
  EXPECT_EQ(table.initial[7], std::byte{0});
}

TEST(PtxVariables, KeepsAddressesAsReferences) {
  const Variable pointers = only(".global .align 8 .u64 p[2] = {generic(fv)+4, other};");
  ASSERT_EQ(pointers.references.size(), 2u);
  EXPECT_EQ(pointers.references[0].symbol, "fv");
  EXPECT_EQ(pointers.references[0].addend, 4);
  EXPECT_EQ(pointers.references[1].offset, 8u);
}

TEST(PtxVariables, ReadsFloatsAndNestedBraces) {
  const Variable matrix = only(".global .f32 m[2][2] = {{0f3F800000, 2.5}, {3.0, -1.0}};");
  ASSERT_EQ(matrix.bytes, 16u);
  EXPECT_EQ(element<float>(matrix, 0), 1.0f);
  EXPECT_EQ(element<float>(matrix, 1), 2.5f);
  EXPECT_EQ(element<float>(matrix, 3), -1.0f);
}

TEST(PtxVariables, LeavesTheSizeOfDynamicSharedMemoryOpen) {
  const Variable dynamic = only(".extern .shared .align 128 .b8 dyn[];");
  EXPECT_TRUE(dynamic.external);
  EXPECT_EQ(dynamic.bytes, 0u);
  EXPECT_EQ(dynamic.alignment, 128u);
}

TEST(PtxVariables, ReadsParametersAndLimitsOfAnEntry) {
  const Module module = parsed(
      ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[40])\n"
      ".maxntid 128, 2, 1\n.minnctapersm 2\n.reqnctapercluster 4\n{ ret; }");
  const Function& k = module.functions[0];
  ASSERT_EQ(k.parameters.size(), 2u);
  EXPECT_EQ(k.parameters[0].bytes, 8u);
  EXPECT_EQ(k.parameters[0].alignment, 8u);
  EXPECT_EQ(k.parameters[1].bytes, 40u);
  EXPECT_EQ(k.threads_max, 256);
  EXPECT_EQ(k.blocks_per_sm_min, 2);
  EXPECT_EQ(k.cluster_blocks, 4);
  EXPECT_EQ(module.target, "sm_90a");
}

TEST(PtxVariables, RefusesAnInitialiserThatDoesNotFit) {
  EXPECT_EQ(error_of(".const .b8 t[2] = {1, 2, 3};"), "PTX line 4: the initialiser of t does not fit");
}

TEST(PtxVariables, RefusesSizesBeyondMemory) {
  EXPECT_EQ(error_of(".global .b8 t[99999999999];"), "PTX line 4: t is too large");
}

}  // namespace
}  // namespace onelaunch::emu::ptx
