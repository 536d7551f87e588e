#include "tests/sandbox/emulator/ptx/parsed.h"

namespace onelaunch::emu::ptx {
namespace {

using Kind = Operand::Kind;

Instruction only(const std::string& statement) {
  const Module module = parsed_body(".reg .pred %p<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n" + statement);
  if (module.functions.empty() || module.functions[0].instructions.empty()) return {};
  return module.functions[0].instructions[0];
}

TEST(PtxInstructions, SplitsOpcodeAndModifiers) {
  const Instruction load = only("ld.global.nc.L1::no_allocate.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+-16];");
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.modifiers, (std::vector<std::string>{"global", "nc", "L1::no_allocate", "v4", "u32"}));
  ASSERT_EQ(load.operands.size(), 2u);
  EXPECT_EQ(load.operands[0].elements.size(), 4u);
  EXPECT_EQ(load.operands[1].kind, Kind::address);
  EXPECT_EQ(load.operands[1].offset, -16);
}

TEST(PtxInstructions, ReadsGuardsAndNegatedPredicates) {
  const Instruction select = only("@!%p1 and.pred %p2, %p3, !%p0;");
  EXPECT_EQ(select.guard, 1);
  EXPECT_TRUE(select.guard_negated);
  EXPECT_FALSE(select.operands[1].negated);
  EXPECT_TRUE(select.operands[2].negated);
}

TEST(PtxInstructions, ReadsPairsAndSinks) {
  const Instruction shuffle = only("shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;");
  EXPECT_TRUE(shuffle.operands[0].is_pair);
  EXPECT_EQ(shuffle.operands[0].elements.size(), 2u);
  EXPECT_EQ(shuffle.operands[4].value, ~std::uint64_t{0});
  EXPECT_EQ(only("atom.add.u32 _, [%rd1], 1;").operands[0].kind, Kind::sink);
}

TEST(PtxInstructions, ReadsEveryKindOfLiteral) {
  const auto literal = [](const std::string& text) { return only("mov.b32 %r1, " + text + ";").operands[1]; };
  EXPECT_EQ(literal("0x1F").value, 31u);
  EXPECT_EQ(literal("0b101").value, 5u);
  EXPECT_EQ(literal("017").value, 15u);
  EXPECT_EQ(literal("7U").value, 7u);
  EXPECT_EQ(literal("-1431655765").value, 0xffffffffaaaaaaabull);
  EXPECT_EQ(literal("0f3F800000").value, 0x3f800000u);
  EXPECT_EQ(literal("0d3FF0000000000000").value, 0x3ff0000000000000ull);
  EXPECT_TRUE(literal("0d3FF0000000000000").wide);
  EXPECT_EQ(literal("-0f3F800000").value, 0xbf800000u);
  EXPECT_EQ(literal("1.5").value, 0x3ff8000000000000ull);
  EXPECT_EQ(literal("WARP_SZ").value, 32u);
}

TEST(PtxInstructions, ReadsSymbolsWithOffsets) {
  const Module module = parsed_body(".shared .align 4 .b8 x[64]; .reg .b64 %rd<2>; mov.u64 %rd1, x+8;");
  const Operand& symbol = module.functions[0].instructions[0].operands[1];
  EXPECT_EQ(symbol.name, "x");
  EXPECT_EQ(symbol.offset, 8);
}

TEST(PtxInstructions, ReadsSpecialRegisters) { EXPECT_EQ(only("mov.u32 %r1, %tid.x;").operands[1].name, "%tid.x"); }

TEST(PtxInstructions, ReadsACallOverSeveralLines) {
  const Module module = parsed(R"(
.extern .func (.param .b32 r) f (.param .b64 a);
.visible .entry k() {
  { // callseq 0
  .param .b64 param0;
  .param .b32 retval0;
  call.uni (retval0),
  f,
  (
  param0
  );
  }
  ret;
})");
  const Instruction& call = module.functions[0].instructions[0];
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[1].name, "f");
  EXPECT_EQ(call.operands[2].elements[0].name, "param0#1");
}

TEST(PtxInstructions, ReadsSeveralStatementsOnALine) {
  const Module module = parsed_body(".reg .b32 %r<3>; .reg .f32 %f<2>;{ .reg .b16 low; cvt.rn.bf16.f32 low, %f1; mov.b32 %r1,{low,low};}");
  EXPECT_EQ(module.functions[0].instructions.size(), 2u);
}

TEST(PtxInstructions, ReadsTensorCoordinatesAsPartOfTheAddress) {
  EXPECT_EQ(only("cp.async.bulk.prefetch.tensor.2d.L2.global [%rd1, {%r1, %r2}];").operands[0].elements.size(), 2u);
}

TEST(PtxInstructions, NamesTheLineOfAnError) {
  EXPECT_EQ(error_of(".visible .entry k() {\n ret\n}\n"), "PTX line 6: '}' is no number");
  EXPECT_EQ(error_of(".visible .entry k() {\n bra nowhere;\n}\n"), "PTX line 5: label nowhere is not defined");
  EXPECT_EQ(error_of(".visible .entry k() {\n @%p1 ret;\n}\n"), "PTX line 5: predicate %p1 is not declared");
  EXPECT_EQ(error_of(".visible .entry k() {\n ret;\n"), "PTX line 6: the body of k never ends");
  EXPECT_EQ(error_of("hello"), "PTX line 4: unexpected 'hello' outside a function");
  EXPECT_EQ(error_of(".tex .u32 t;"), "PTX line 4: directive .tex is not implemented");
}

TEST(PtxInstructions, EndsOnEveryPrefixOfAKernel) {
  const std::string whole = kHead + R"(.global .align 4 .b8 t[4] = {1, 2};
.visible .entry k(.param .u64 a) .maxntid 32, 1, 1 { .reg .b32 %r<3>; .loc 1 2 3
 L: { .reg .pred p; setp.eq.u32 p, %r1, -0x1F; @!p bra L; } st.global.v2.u32 [%r2+4], {%r1, 0f3F800000}; ret; })";
  for (std::size_t size = 0; size < whole.size(); ++size) (void)parse(whole.substr(0, size)).has_value();
  EXPECT_TRUE(parse(whole));
}

}  // namespace
}  // namespace onelaunch::emu::ptx
