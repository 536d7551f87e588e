#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

constexpr const char* kTwice = R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %r<3>; .reg .pred %p<2>;
  ld.param.u32 %r1, [x];
  setp.eq.s32 %p1, %r1, 0;
  @%p1 ret;
  shl.b32 %r2, %r1, 1;
  st.param.b32 [result+0], %r2;
  ret;
}
)";

std::string call_of_twice(const std::string& argument, const std::string& result, const std::string& guard = "") {
  return "{ .param .b32 param0; st.param.b32 [param0+0], " + argument + "; .param .b32 retval0;\n" + guard +
         " call.uni (retval0), twice, (param0); ld.param.b32 " + result + ", [retval0+0]; }\n";
}

const std::string kRegisters = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n";

TEST(Calls, AreInlinedWithParametersInRegisters) {
  const auto program = decoded(kTwice + entry(kRegisters + "ld.global.u32 %r1, [%rd1];" + call_of_twice("%r1", "%r2") +
                                              "st.global.u32 [%rd1], %r2; ret;"));
  const DecodedOp shift = ops_of(*program, "shl")[0];
  EXPECT_EQ(shift.a, ops_of(*program, "ld.global")[0].dst) << "the argument is copied nowhere";
  EXPECT_EQ(program->local_bytes, 0u);
  const DecodedOp leave = ops_of(*program, "ret")[0];
  EXPECT_EQ(leave.control, Control::branch) << "ret of a called function goes on behind the call";
  EXPECT_GT(leave.target, 0u);
}

TEST(Calls, GetTheirOwnRegistersEachTime) {
  const auto program = decoded(kTwice + entry(kRegisters + "ld.global.u32 %r1, [%rd1];" + call_of_twice("%r1", "%r2") +
                                              call_of_twice("%r2", "%r3") + "st.global.u32 [%rd1], %r3; ret;"));
  EXPECT_EQ(ops_of(*program, "shl").size(), 2u);
}

TEST(Calls, AreBranchedAroundWhenGuarded) {
  const auto program = decoded(kTwice + entry(kRegisters + "ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 5;" +
                                              call_of_twice("%r1", "%r2", "@%p1") + "st.global.u32 [%rd1], %r2; ret;"));
  const DecodedOp around = ops_of(*program, "call")[0];
  EXPECT_EQ(around.control, Control::branch);
  EXPECT_TRUE(around.guard_negated);
}

TEST(Calls, KeepStructuresInLocalMemory) {
  const auto program = decoded(R"(
.func f(.param .align 8 .b8 s[16]) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u8 %r1, [s+9]; mov.b64 %rd1, s; ld.param.u32 %r2, [%rd1+4]; st.global.u32 [%rd2], %r2; st.global.u32 [%rd2], %r1; ret;
})" + entry(kRegisters + "{ .param .align 8 .b8 param0[16]; st.param.b32 [param0+4], %r1; call.uni f, (param0); } ret;"));
  EXPECT_EQ(program->local_bytes, 16u);
  EXPECT_EQ(ops_of(*program, "st.param")[0].imm, 4u);
  EXPECT_EQ(ops_of(*program, "ld.param.u8")[0].imm, 9u);
  EXPECT_EQ(ops_of(*program, "ld.param.u32")[0].imm, 4u);
}

TEST(Calls, OfVprintfPrint) {
  const auto program = decoded(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n" +
                               entry(kRegisters + "ld.global.u64 %rd2, [%rd1]; { .param .b64 param0; st.param.b64 [param0+0], %rd2;\n"
                               ".param .b64 param1; st.param.b64 [param1+0], 0; .param .b32 retval0;\n"
                               "call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %r1, [retval0+0]; } ret;"));
  const DecodedOp print = ops_of(*program, "call")[0];
  EXPECT_EQ(print.control, Control::print);
  EXPECT_EQ(print.a, ops_of(*program, "ld.global")[0].dst);
  EXPECT_NE(print.b & kConstantBit, 0u);
  EXPECT_NE(print.dst, kNoOperand);
}

TEST(Calls, OfAssertionsTrap) {
  const auto program = decoded(".extern .func __assertfail(.param .b64 a);\n" +
                               entry(kRegisters + "{ .param .b64 param0; st.param.b64 [param0+0], %rd2; call.uni __assertfail, (param0); } ret;"));
  EXPECT_EQ(ops_of(*program, "call")[0].control, Control::trap);
}

TEST(Calls, OfThemselvesAreRefusedByName) {
  EXPECT_EQ(refusal_of(".func f() { call.uni f; ret; }\n" + entry("call.uni f; ret;")),
            "entry k: function f calls itself: recursion is not implemented");
}

TEST(Calls, OfUnknownFunctionsAreRefusedByName) {
  EXPECT_EQ(refusal_of(".extern .func malloc();\n.visible .entry k() {\ncall.uni malloc;\nret; }"),
            "entry k: PTX line 3: function malloc is not defined and the emulator does not provide it");
}

TEST(Calls, ThroughPointersAreRefused) {
  EXPECT_NE(refusal_of(entry(kRegisters + "call.uni %rd1; ret;")).find("calls through pointers"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::emu
