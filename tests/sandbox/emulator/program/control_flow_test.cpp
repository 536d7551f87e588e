#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

const std::string kRegisters = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n";

std::shared_ptr<const Program> body(const std::string& statements) { return decoded(entry(kRegisters + statements)); }

// The real operation behind the pseudo-operations at pc.
std::string at(const Program& program, std::uint64_t pc) {
  while (pc < program.ops.size() &&
         (program.ops[pc].control == Control::reconverge || program.ops[pc].control == Control::block)) {
    ++pc;
  }
  return pc < program.ops.size() ? program.sites[program.ops[pc].site].opcode : "nothing";
}

TEST(ControlFlow, SendsAnIfToItsEndAndMeetsThere) {
  const auto program = body("@%p1 bra END; add.s32 %r1, %r1, 1; END: st.global.u32 [%rd1], %r1; ret;");
  const DecodedOp branch = ops_of(*program, "bra")[0];
  EXPECT_EQ(branch.control, Control::branch);
  EXPECT_EQ(branch.target, branch.imm);
  EXPECT_EQ(program->ops[branch.target].control, Control::reconverge);
  EXPECT_EQ(program->ops[branch.target + 1].control, Control::block);
  EXPECT_EQ(at(*program, branch.target), "st.global.u32");
}

TEST(ControlFlow, MeetsBehindBothSidesOfAnIfElse) {
  const auto program = body("@%p1 bra ELSE; add.s32 %r1, %r1, 1; bra.uni END; ELSE: sub.s32 %r1, %r1, 1; END: st.global.u32 [%rd1], %r1; ret;");
  const auto branches = ops_of(*program, "bra");
  EXPECT_EQ(at(*program, branches[0].target), "sub.s32");
  EXPECT_EQ(at(*program, branches[0].imm), "st.global.u32");
  EXPECT_EQ(branches[0].extra, 0u);
  EXPECT_EQ(branches[1].extra, 1u) << "bra.uni";
}

TEST(ControlFlow, MeetsBehindALoop) {
  const auto program = body("L: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra L; st.global.u32 [%rd1], %r1; ret;");
  const DecodedOp back = ops_of(*program, "bra")[0];
  EXPECT_EQ(back.target, 0u);
  EXPECT_EQ(at(*program, back.imm), "st.global.u32");
}

TEST(ControlFlow, DoesNotWaitForLanesThatTrap) {
  const auto program = body("@%p1 bra OK; trap; OK: st.global.u32 [%rd1], %r1; ret;");
  EXPECT_EQ(at(*program, ops_of(*program, "bra")[0].imm), "st.global.u32");
  EXPECT_EQ(ops_of(*program, "trap")[0].control, Control::trap);
}

TEST(ControlFlow, DoesNotWaitForLanesThatReturnEarly) {
  const auto program = body("@%p1 bra REST; @%p2 bra OUT; add.s32 %r1, %r1, 1; REST: st.global.u32 [%rd1], %r1; OUT: ret;");
  const auto branches = ops_of(*program, "bra");
  EXPECT_EQ(at(*program, branches[0].imm), "st.global.u32");
  EXPECT_EQ(at(*program, branches[1].imm), "add.s32");
}

TEST(ControlFlow, StillMeetsWhenALoopEndsOnlyByReturning) {
  const auto program = body("L: @%p1 bra OUT; @%p2 bra SKIP; add.s32 %r1, %r1, 1; SKIP: st.global.u32 [%rd1], %r1; bra L; OUT: ret;");
  EXPECT_EQ(at(*program, ops_of(*program, "bra")[1].imm), "st.global.u32");
}

TEST(ControlFlow, SurvivesALoopWithoutEnd) {
  const auto program = body("L: @%p1 bra L; bra L;");
  EXPECT_EQ(ops_of(*program, "bra").size(), 2u);
}

TEST(ControlFlow, ListsTheTargetsOfAnIndexedBranch) {
  const auto program = body("ld.global.u32 %r1, [%rd1]; T: .branchtargets A, B, A; brx.idx.uni %r1, T; A: add.s32 %r2, %r2, 1; bra END;\n"
                            "B: sub.s32 %r2, %r2, 1; END: st.global.u32 [%rd1], %r2; ret;");
  const DecodedOp branch = ops_of(*program, "brx")[0];
  ASSERT_EQ(branch.control, Control::branch_indexed);
  ASSERT_EQ(branch.imm, 3u);
  EXPECT_EQ(branch.a, ops_of(*program, "ld")[0].dst);
  EXPECT_EQ(at(*program, program->operands[branch.list]), "add.s32");
  EXPECT_EQ(at(*program, program->operands[branch.list + 1]), "sub.s32");
  EXPECT_EQ(program->operands[branch.list], program->operands[branch.list + 2]);
  EXPECT_EQ(at(*program, branch.target), "st.global.u32");
}

TEST(ControlFlow, CountsTheOperationsOfEachBlockByClass) {
  const auto program = body("ld.global.u32 %r1, [%rd1]; add.s32 %r2, %r1, 1; bar.sync 0; st.global.u32 [%rd1], %r2; ret;");
  ASSERT_EQ(program->blocks.size(), 2u);
  EXPECT_EQ(program->blocks[0].count, 3u);
  EXPECT_EQ(program->blocks[0].classes[static_cast<std::size_t>(CostClass::load_store)], 1u);
  EXPECT_EQ(program->blocks[0].classes[static_cast<std::size_t>(CostClass::alu)], 1u);
  EXPECT_EQ(program->blocks[0].classes[static_cast<std::size_t>(CostClass::barrier)], 1u);
  EXPECT_EQ(program->ops[program->blocks[1].first - 1].control, Control::block);
  EXPECT_EQ(program->ops[program->blocks[1].first - 1].extra, 1u);
}

TEST(ControlFlow, LeavesOutWhatIsNeverReached) {
  EXPECT_EQ(opcodes(*body("ret; add.s32 %r1, %r1, 1;")), (std::vector<std::string>{"ret"}));
}

TEST(ControlFlow, ReturnsAtTheEndOfTheText) {
  const auto program = body("add.s32 %r1, %r1, 1;");
  EXPECT_EQ(program->ops.back().control, Control::exit);
}

TEST(ControlFlow, NeedsNoInstructionAtAll) { EXPECT_EQ(decoded(entry(""))->ops.back().control, Control::exit); }

TEST(ControlFlow, GoesOnBehindAGuardedReturn) {
  const auto program = body("@%p1 ret; st.global.u32 [%rd1], %r1; ret;");
  const DecodedOp first = ops_of(*program, "ret")[0];
  EXPECT_EQ(first.control, Control::exit);
  EXPECT_NE(first.guard, kNoOperand);
  EXPECT_EQ(ops_of(*program, "st").size(), 1u);
}

TEST(ControlFlow, KnowsThePtxLineOfEveryOperation) {
  const auto program = decoded(".visible .entry k() {\n.reg .b32 %r<2>;\nadd.s32 %r1, %r1, 1;\nret;\n}");
  EXPECT_EQ(program->sites[ops_of(*program, "add")[0].site].ptx_line, 3);
}

}  // namespace
}  // namespace onelaunch::emu
