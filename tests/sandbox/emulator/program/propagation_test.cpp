#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

const std::string kRegisters = ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n";

std::vector<std::string> after(const std::string& statements) { return opcodes(*decoded(entry(kRegisters + statements))); }
using Names = std::vector<std::string>;

TEST(Propagation, PutsSingleConstantsWhereTheyAreUsed) {
  const auto program = decoded(entry(kRegisters + "mov.u32 %r1, 16704; prmt.b32 %r2, %r3, %r4, %r1; st.global.u32 [%rd1], %r2; ret;"));
  EXPECT_EQ(opcodes(*program), (Names{"prmt.b32", "st.global.u32", "ret"}));
  EXPECT_EQ(ops_of(*program, "prmt")[0].imm, 16704u);
}

TEST(Propagation, LeavesRegistersWithTwoDefinitionsAlone) {
  EXPECT_EQ(after("mov.u32 %r1, 1; L: st.global.u32 [%rd1], %r1; mov.u32 %r1, 2; bra L;"),
            (Names{"mov.u32", "st.global.u32", "mov.u32", "bra"}));
}

TEST(Propagation, LeavesGuardedDefinitionsAlone) {
  EXPECT_EQ(after("setp.eq.u32 %p1, %r5, 0; @%p1 mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret;"),
            (Names{"setp.eq.u32", "mov.u32", "st.global.u32", "ret"}));
}

TEST(Propagation, FollowsCopiesOfTheSameWidth) {
  const auto program = decoded(entry(kRegisters + "ld.global.f32 %f1, [%rd1]; mov.b32 %r1, %f1; mov.b32 %r2, %r1; st.global.u32 [%rd1], %r2; ret;"));
  EXPECT_EQ(opcodes(*program), (Names{"ld.global.f32", "st.global.u32", "ret"}));
  EXPECT_EQ(ops_of(*program, "st")[0].a, ops_of(*program, "ld")[0].dst);
}

// Each round uses the value that the round before has loaded: the copy must stay.
TEST(Propagation, KeepsACopyThatOutlivesItsSource) {
  EXPECT_EQ(after("L: setp.eq.u32 %p2, %r5, 0; ld.global.u32 %r1, [%rd1]; @%p1 bra SKIP; st.global.u32 [%rd1], %r2;\n"
                  "SKIP: mov.u32 %r2, %r1; @%p2 bra L; ret;"),
            (Names{"setp.eq.u32", "ld.global.u32", "bra", "st.global.u32", "mov.u32", "bra", "ret"}));
}

TEST(Propagation, KeepsACopyWhoseSourceChanges) {
  EXPECT_EQ(after("ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %r1; add.s32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1], %r2; ret;").at(1),
            "mov.u32");
}

TEST(Propagation, TurnsConstantPredicatesRound) {
  const auto program = decoded(entry(kRegisters + "mov.pred %p1, 1; and.pred %p2, %p3, !%p1; @%p2 st.global.u32 [%rd1], %r1; ret;"));
  EXPECT_EQ(ops_of(*program, "and")[0].imm, 0u);
  EXPECT_EQ(program->constants[ops_of(*program, "and")[0].b & ~kConstantBit], std::byte{0});
}

TEST(Propagation, KeepsAMoveThatOnlyAGuardReads) {
  EXPECT_EQ(after("mov.pred %p1, 1; @%p1 st.global.u32 [%rd1], %r1; ret;"), (Names{"mov.pred", "st.global.u32", "ret"}));
}

TEST(Propagation, CutsConstantsToTheirRegister) {
  const auto program = decoded(entry(kRegisters + "mov.u64 %rd1, -1; cvt.u32.u64 %r1, %rd1; add.s32 %r2, %r1, %r3; st.global.u32 [%rd2], %r2; ret;"));
  EXPECT_EQ(opcodes(*program), (Names{"add.s32", "st.global.u32", "ret"}));
  EXPECT_EQ(ops_of(*program, "add")[0].imm, 0xffffffffu);
}

}  // namespace
}  // namespace onelaunch::emu
