#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

const std::string kRegisters = ".reg .b32 %r<99>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n";

TEST(RegisterSlots, AreSharedByRegistersThatAreNeverAliveTogether) {
  std::string statements = kRegisters;
  for (int i = 1; i < 90; ++i) {
    const std::string r = "%r" + std::to_string(i);
    statements += "ld.global.u32 " + r + ", [%rd1]; st.global.u32 [%rd1], " + r + ";\n";
  }
  EXPECT_EQ(decoded(entry(statements + "ret;"))->layout.bytes, 256u + 128u);
}

TEST(RegisterSlots, AreNotSharedByTheSidesOfOneInstruction) {
  const auto program = decoded(entry(kRegisters + "ld.global.u32 %r1, [%rd1]; shfl.sync.down.b32 %r2|%p1, %r1, 1, 31, -1; st.global.u32 [%rd1], %r2; ret;"));
  EXPECT_NE(program->operands[ops_of(*program, "shfl")[0].list], ops_of(*program, "ld")[0].dst);
}

TEST(RegisterSlots, OutliveALoopThatReadsThem) {
  const auto program = decoded(entry(kRegisters + "ld.global.u32 %r1, [%rd1]; L: ld.global.u32 %r2, [%rd1]; add.s32 %r3, %r2, %r1;\n"
                                                  "ld.global.u32 %r4, [%rd1]; setp.eq.s32 %p1, %r4, %r3; @%p1 bra L; ret;"));
  const auto loads = ops_of(*program, "ld");
  EXPECT_NE(loads[0].dst, loads[1].dst);
  EXPECT_NE(loads[0].dst, loads[2].dst) << "alive round the loop, though read before";
}

TEST(RegisterSlots, KeepTheOtherLanesOfAGuardedWrite) {
  const auto program = decoded(entry(kRegisters + "ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; ld.global.u32 %r2, [%rd1];\n"
                                                  "@%p1 ld.global.u32 %r1, [%rd1]; add.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3; ret;"));
  const auto loads = ops_of(*program, "ld");
  EXPECT_EQ(loads[0].dst, loads[2].dst);
  EXPECT_NE(loads[0].dst, loads[1].dst);
}

TEST(RegisterSlots, KeepAccumulatorsAliveBeforeTheyAreAddedTo) {
  const auto program = decoded(entry(kRegisters + "ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;\n"
                                                  "wgmma.mma_async.f32 {%r1}, %rd2, %rd3; st.global.u32 [%rd1], %r1; ret;"));
  EXPECT_NE(ops_of(*program, "ld")[0].dst, ops_of(*program, "ld")[1].dst);
}

TEST(RegisterSlots, AlignRowsTo64Bytes) {
  const auto program = decoded(entry(kRegisters + "setp.eq.s32 %p1, %r1, %r2; @%p1 st.global.u32 [%rd1], %r1; ret;"));
  EXPECT_EQ(program->layout.bytes % 64, 0u);
  EXPECT_EQ(ops_of(*program, "st")[0].a % 64, 0u);
  EXPECT_EQ(ops_of(*program, "st")[0].dst % 64, 0u);
}

}  // namespace
}  // namespace onelaunch::emu
