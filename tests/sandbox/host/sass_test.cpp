#include "sandbox/host/sass.h"

#include <gtest/gtest.h>

#include "sandbox/host/sass_loops.h"

namespace onelaunch::sandbox {
namespace {

// As cuobjdump -sass prints it, with encodings and absolute targets.
constexpr const char* kDump = R"sass(
Fatbin elf code:
================
arch = sm_90a
	code for sm_90a
		Function : prepare
	.headerflags	@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_ACCELERATORS EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   EXIT ;                                    /* 0x000000000000794d */
                                                                             /* 0x000fea0003800000 */
		..........
		Function : megakernel
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                    /* 0x00000a00ff017b82 */
                                                                             /* 0x000fe20000000800 */
        /*0010*/                   S2R R0, SR_TID.X ;                        /* 0x0000000000007919 */
                                                                             /* 0x000e220000002100 */
        /*0020*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ; /* 0x0000000402047981 */
        /*0030*/                   FFMA R8, R4, R5, R8 ;
        /*0040*/                   FFMA R9, R6, R7, R9 ;
        /*0050*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0060*/                   ISETP.GE.AND P0, PT, R0, 0x20, PT ;
        /*0070*/              @!P0 BRA 0x20 ;
        /*0080*/                   STG.E desc[UR4][R2.64], R8 ;
        /*0090*/                   EXIT ;
        /*00a0*/                   BRA 0xa0;
        /*00b0*/                   NOP;
)sass";

// As nvdisasm -c prints it, with labels: a loop in a loop, and slow code at the end that jumps back.
constexpr const char* kLabels = R"sass(
	.section	.text.megakernel,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=32"
	.align	128
        .global         megakernel
.text.megakernel:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_2:
        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0020*/                   BRA.DIV ~URZ, `(.L_x_9) ;
.L_x_5:
        /*0030*/                   SHFL.BFLY PT, R5, R4, 0x10, 0x1f ;
.L_x_1:
        /*0040*/                   HMMA.16816.F32.BF16 R4, R8, R10, R4 ;
        /*0050*/                   LDS.128 R8, [R12] ;
        /*0060*/                   UIADD3 UR4, UR4, 0x1, URZ ;
        /*0070*/               @P1 BRA `(.L_x_1) ;
        /*0080*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0090*/               @P0 BRA `(.L_x_2) ;
        /*00a0*/                   EXIT ;
.L_x_9:
        /*00b0*/                   WARPSYNC.COLLECTIVE R6, `(.L_x_5) ;
        /*00c0*/                   BRA `(.L_x_5) ;
.L_x_10:
        /*00d0*/                   BRA `(.L_x_10);
.text.other:
        /*0000*/                   NOP ;
)sass";

TEST(Sass, ReadsTheFunctionThatIsAskedFor) {
  const auto code = parse_sass(kDump, "megakernel");
  ASSERT_EQ(code.size(), 12u);
  EXPECT_EQ(code[2].opcode, "LDG.E.128.CONSTANT");
  EXPECT_EQ(code[2].operands, "R4, desc[UR4][R2.64]");
  EXPECT_TRUE(code[7].predicated);
  EXPECT_EQ(code[7].target, 2);
  EXPECT_EQ(parse_sass(kDump, "prepare").size(), 1u);
  EXPECT_TRUE(parse_sass(kDump, "kernel").empty());
}

TEST(Sass, FollowsLabelsToo) {
  const auto code = parse_sass(kLabels, "megakernel");
  ASSERT_EQ(code.size(), 14u);
  EXPECT_EQ(code[7].target, 4);
  EXPECT_EQ(code[9].target, 1);
  EXPECT_EQ(code[12].target, 3);
}

TEST(Sass, CountsByClassAndPipe) {
  const SassReport report = sass_report(kDump, "megakernel");
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.instructions, 12u);
  EXPECT_EQ(report.classes.at("FFMA"), 2u);
  EXPECT_EQ(report.classes.at("LDG"), 1u);
  EXPECT_EQ(report.pipes.at("memory"), 3u);
  EXPECT_EQ(report.pipes.at("fma"), 2u);
  EXPECT_EQ(report.pipes.at("alu"), 2u);
}

TEST(Sass, FindsALoopAndNotTheIdleBranchAfterTheEnd) {
  const SassReport report = sass_report(kDump, "megakernel");
  ASSERT_EQ(report.loops.size(), 1u);
  EXPECT_EQ(report.loops[0].place, "0x20..0x70");
  EXPECT_EQ(report.loops[0].instructions, 6u);
  EXPECT_EQ(report.loops[0].classes.at("FFMA"), 2u);
}

TEST(Sass, RanksTheInnerLoopFirstAndLeavesItOutOfTheOuter) {
  const SassReport report = sass_report(kLabels, "megakernel");
  ASSERT_EQ(report.loops.size(), 2u);
  EXPECT_EQ(report.loops[0].depth, 2);
  EXPECT_EQ(report.loops[0].instructions, 4u);
  EXPECT_EQ(report.loops[0].pipes.at("tensor"), 1u);
  EXPECT_EQ(report.loops[0].pipes.at("uniform"), 1u);
  EXPECT_EQ(report.loops[1].depth, 1);
  // Its own five, and the slow code that belongs to it: no loop of its own, though it jumps back.
  EXPECT_EQ(report.loops[1].instructions, 7u);
}

TEST(Sass, SaysWhenThereIsNothingToRead) {
  EXPECT_NE(sass_report("", "megakernel").problem, "");
  EXPECT_NE(sass_report("nvdisasm fatal   : Unknown option", "megakernel").problem, "");
  EXPECT_NE(sass_report(kDump, "kernel").problem, "");
}

TEST(Sass, EveryPrefixOfATextIsReadWithoutHarm) {
  const std::string text = kLabels;
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) sass_report(std::string_view(text).substr(0, bytes), "megakernel");
}

TEST(Sass, KnowsThePipesOfCommonInstructions) {
  EXPECT_STREQ(sass_pipe("HGMMA"), "tensor");
  EXPECT_STREQ(sass_pipe("IDP"), "fma");
  EXPECT_STREQ(sass_pipe("LOP3"), "alu");
  EXPECT_STREQ(sass_pipe("MUFU"), "special");
  EXPECT_STREQ(sass_pipe("UBLKCP"), "memory");
  EXPECT_STREQ(sass_pipe("ULOP3"), "uniform");
  EXPECT_STREQ(sass_pipe("NEWTHING"), "other");
}

}  // namespace
}  // namespace onelaunch::sandbox
