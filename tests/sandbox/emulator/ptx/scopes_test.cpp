#include "tests/sandbox/emulator/ptx/parsed.h"

namespace onelaunch::emu::ptx {
namespace {

constexpr const char* kTwoWaits = R"(
  .reg .b32 %r<3>;
  {
   .reg .pred p;
   LAB_WAIT: setp.eq.u32 p, %r1, 0;
   @p bra DONE;
   bra LAB_WAIT;
   DONE:
  }
  {
   .reg .pred p;
   LAB_WAIT: setp.eq.u32 p, %r2, 0;
   @p bra DONE;
   bra LAB_WAIT;
   DONE:
  }
  ret;)";

TEST(PtxScopes, KeepsLabelsOfInlinedCopiesApart) {
  const Module module = parsed_body(kTwoWaits);
  const Function& k = module.functions[0];
  const auto target = [&](std::size_t i) { return k.labels.at(k.instructions[i].operands[0].name); };
  EXPECT_EQ(target(1), 3u);
  EXPECT_EQ(target(2), 0u);
  EXPECT_EQ(target(4), 6u);
  EXPECT_EQ(target(5), 3u);
}

TEST(PtxScopes, KeepsRegistersOfInlinedCopiesApart) {
  const Module module = parsed_body(kTwoWaits);
  const Function& k = module.functions[0];
  EXPECT_NE(k.instructions[1].guard, k.instructions[4].guard);
  EXPECT_EQ(k.registers[static_cast<std::size_t>(k.instructions[1].guard)].type, "pred");
}

TEST(PtxScopes, LetsInnerNamesHideOuterOnes) {
  const Module module = parsed_body(".reg .b32 x; { .reg .f32 x; mov.b32 x, 0; } mov.b32 x, 1;");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.instructions[0].operands[0].index, 1);
  EXPECT_EQ(k.instructions[1].operands[0].index, 0);
}

TEST(PtxScopes, FindsOuterLabelsFromInside) {
  const Module module = parsed_body("{ bra OUT; } OUT: ret;");
  EXPECT_EQ(module.functions[0].instructions[0].operands[0].name, "OUT");
}

TEST(PtxScopes, NumbersARangeOfRegisters) {
  const Module module = parsed_body(".reg .b32 %r<12>; .reg .b64 %rd<2>; mov.b32 %r11, 0; mov.b64 %rd1, 0;");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.registers[static_cast<std::size_t>(k.instructions[0].operands[0].index)].name, "%r11");
  EXPECT_EQ(k.registers[static_cast<std::size_t>(k.instructions[1].operands[0].index)].name, "%rd1");
  EXPECT_EQ(k.registers.size(), 14u);
}

TEST(PtxScopes, ResolvesBranchTargets) {
  const Module module = parsed_body(".reg .b32 %r<2>; T: .branchtargets A, B; brx.idx %r1, T; A: ret; B: ret;");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.branch_targets.at("T"), (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(k.labels.at("B"), 2u);
}

}  // namespace
}  // namespace onelaunch::emu::ptx
