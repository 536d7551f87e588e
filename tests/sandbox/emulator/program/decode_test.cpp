#include <gtest/gtest.h>

#include <algorithm>

#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {
namespace {

Result<std::shared_ptr<const Program>> decoded(const std::string& body, const std::string& before = "") {
  const std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n" + before +
                           "\n.visible .entry kernel(.param .u64 kernel_param_0)\n{\n" + body + "\nret;\n}\n";
  Result<ptx::Module> module = ptx::parse(text);
  if (!module) return because(module.error());
  return decode(std::make_shared<const ptx::Module>(std::move(*module)), "kernel", {});
}

std::string refusal(const std::string& body) {
  const auto program = decoded(".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>;\n" + body);
  EXPECT_FALSE(program) << body;
  return program ? "" : program.error().message;
}

std::size_t count(const Program& program, Control control) {
  return static_cast<std::size_t>(std::count_if(program.ops.begin(), program.ops.end(), [control](const DecodedOp& op) { return op.control == control; }));
}

TEST(Decode, RefusesWhatIsNotImplementedByNameAndLine) {
  const std::string wgmma = refusal("wgmma.fence.sync.aligned;");
  EXPECT_NE(wgmma.find("wgmma"), std::string::npos) << wgmma;
  EXPECT_NE(wgmma.find("line 8"), std::string::npos) << wgmma;
  const std::string modifier = refusal("ld.global.quickly.u32 %r1, [%rd1];");
  EXPECT_NE(modifier.find("quickly"), std::string::npos) << modifier;
  const std::string undeclared = refusal("add.s32 %r20, %r1, 1;");
  EXPECT_NE(undeclared.find("%r20"), std::string::npos) << undeclared;
  const std::string tensor = refusal("cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1];");
  EXPECT_NE(tensor.find("tensor maps"), std::string::npos) << tensor;
}

TEST(Decode, RefusesCallsOfFunctionsThatNobodyDefines) {
  const auto program = decoded("{ .param .b64 p; call.uni other, (p); }", ".extern .func other(.param .b64 a);");
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message.find("other"), std::string::npos) << program.error().message;
}

TEST(Decode, FindsWhereDivergentLanesMeet) {
  const auto program = decoded(R"(
    .reg .pred %p<2>; .reg .b32 %r<5>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 7;
    @%p1 bra $LESS;
    add.s32 %r2, %r1, 1;
    bra.uni $END;
  $LESS:
    add.s32 %r2, %r1, 2;
  $END:
    st.global.u32 [0], %r2;)");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(count(**program, Control::reconverge), 1u);
  const auto branch = std::find_if((*program)->ops.begin(), (*program)->ops.end(), [](const DecodedOp& op) { return op.control == Control::branch; });
  ASSERT_NE(branch, (*program)->ops.end());
  EXPECT_EQ((*program)->ops.at(branch->imm).control, Control::reconverge);
  EXPECT_NE(branch->guard, kNoOperand);
}

TEST(Decode, SharesRowsAmongRegistersThatDoNotLiveTogether) {
  std::string body = ".reg .b32 %r<400>; .reg .b64 %rd<2>;\nld.param.u64 %rd1, [kernel_param_0];\nmov.u32 %r0, %tid.x;\n";
  for (int i = 1; i < 399; ++i) body += "add.s32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", %r0;\n";
  const auto program = decoded(body + "st.global.u32 [%rd1], %r398;");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_LE((*program)->layout.bytes, 8u * 128 + 4 * 256);
}

TEST(Decode, PlacesStaticSharedVariablesAndKnowsTheirSize) {
  const auto program = decoded(".shared .align 4 .b8 a[100]; .shared .align 16 .b8 b[32];\n.reg .b32 %r<3>;\nmov.u32 %r1, b;\nst.shared.u32 [%r1], 5;\nst.shared.u32 [a], 6;");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_GE((*program)->shared_static_bytes, 132u);
  EXPECT_LE((*program)->shared_static_bytes, 160u);
}

}  // namespace
}  // namespace onelaunch::emu
