#include "sandbox/host/ptx_scan.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

std::string module_with(const std::string& top, const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + top +
         "\n.visible .entry megakernel(\n\t.param .u64 megakernel_param_0\n)\n.maxntid 256, 1, 1\n{\n"
         "\t.reg .b64 \t%rd<9>;\n\t.loc\t1 12 3\n" + body + "\n\tret;\n}\n";
}

std::vector<std::string> found(const std::string& top, const std::string& body) {
  std::vector<std::string> all;
  for (const PtxFinding& finding : scan_ptx(module_with(top, body)).findings) all.push_back(finding.rule + " " + finding.what);
  return all;
}
using Names = std::vector<std::string>;

TEST(PtxScan, ReadsEntriesBoundsAndDeclarations) {
  const PtxFacts facts = scan_ptx(module_with(
      ".const .align 8 .b8 ol_launch[64] = {0, 2, 0, 0, 0, 0, 0, 0, 132};\n"
      ".const .align 8 .u64 ol_prepare_repack[4] = {0, 256, 4294967298, 0};",
      ""));
  EXPECT_EQ(facts.entries, Names{"megakernel"});
  EXPECT_EQ(facts.threads_max.at("megakernel"), 256u);
  EXPECT_EQ(facts.constants.at("ol_launch"), (std::vector<std::uint64_t>{512, 132, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(facts.constants.at("ol_prepare_repack"), (std::vector<std::uint64_t>{0, 256, 4294967298, 0}));
  EXPECT_TRUE(facts.findings.empty());
}

TEST(PtxScan, FindsSpecialRegistersButNotInCommentsAndStrings) {
  EXPECT_EQ(found("", "mov.u64 %rd1, %globaltimer;"), Names{"special_register %globaltimer"});
  EXPECT_EQ(found("", "mov.u32 %r1, %clock;"), Names{"special_register %clock"});
  EXPECT_EQ(found("", "@%p1 mov.u64 %rd1, %gridid;"), Names{"special_register %gridid"});
  EXPECT_EQ(found("", "// %clock64\n/* %gridid */ .pragma \"%clock\"; mov.u32 %r1, %smid;"), Names{});
}

TEST(PtxScan, FindsForbiddenInstructionsBehindGuards) {
  EXPECT_EQ(found("", "@!%p1 griddepcontrol.wait;"), Names{"instruction griddepcontrol.wait"});
  EXPECT_EQ(found("", "discard.global.L2 [%rd1], 128;"), Names{"instruction discard.global.L2"});
  EXPECT_EQ(found("", "nanosleep.u32 20;"), Names{"instruction nanosleep.u32"});
}

TEST(PtxScan, NamesTheSourceLine) {
  const PtxFacts facts = scan_ptx(module_with("", "mov.u32 %r1, %clock;"));
  ASSERT_EQ(facts.findings.size(), 1u);
  EXPECT_EQ(facts.findings[0].source_line, 12);
}

TEST(PtxScan, KnowsPrintfAndAssertAndNoOtherUndefinedFunction) {
  EXPECT_EQ(found(".extern .func (.param .b32 func_retval0) vprintf\n(\n.param .b64 a,\n.param .b64 b\n)\n;", ""), Names{});
  EXPECT_EQ(found(".extern .func (.param .b64 func_retval0) malloc\n(\n.param .b64 a\n)\n;", ""),
            Names{"undefined_function malloc"});
  EXPECT_EQ(found(".func (.param .b32 r) helper(.param .b32 a)\n{\nret;\n}\n", ""), Names{});
}

// Of a type whose size is not known here: no words, rather than words of nothing.
TEST(PtxScan, ReadsNoWordsFromAConstantOfAnUnknownType) {
  EXPECT_TRUE(scan_ptx(".const .align 8 .pred ol_launch[8] = {256, 132};").constants.at("ol_launch").empty());
}

const std::string kMemo = ".global .align 4 .b8 memo[16];";

TEST(PtxScan, FindsGlobalsThatAreWrittenThroughAnyChainOfRegisters) {
  EXPECT_EQ(found(kMemo, "st.global.u32 [memo+4], %r1;"), Names{"mutable_global memo"});
  EXPECT_EQ(found(kMemo, "mov.u64 %rd1, memo;\nadd.s64 %rd2, %rd1, %rd5;\natom.global.add.u32 %r1, [%rd2], 1;"),
            Names{"mutable_global memo"});
  EXPECT_EQ(found(kMemo, "$L1:\nred.global.add.u32 [%rd2], 1;\nmov.u64 %rd1, memo;\ncvta.global.u64 %rd2, %rd1;\nbra $L1;"),
            Names{"mutable_global memo"});
}

TEST(PtxScan, FindsGlobalsWhoseAddressIsStoredOrPassedOn) {
  EXPECT_EQ(found(kMemo, "mov.u64 %rd1, memo;\nst.shared.u64 [%r4], %rd1;"), Names{"mutable_global memo"});
  EXPECT_EQ(found(kMemo, "mov.u64 %rd1, memo;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd1;\ncall.uni\nhelper,\n(\nparam0\n);\n}"),
            Names{"mutable_global memo"});
  EXPECT_EQ(found(kMemo + "\n.global .align 8 .u64 pointer = memo;", ""), Names{"mutable_global memo"});
}

TEST(PtxScan, FindsGlobalsThatInlineAssemblyDeclaresInsideAFunction) {
  EXPECT_EQ(found("", "{\n.global .b32 $str;\nst.global.b32 [$str], %r1;\n}"), Names{"mutable_global $str"});
}

TEST(PtxScan, LetsConstantTablesAndTextBeRead) {
  EXPECT_EQ(found(".global .align 4 .b8 table[8] = {1, 2};\n.global .align 1 .b8 $str[4] = {97, 98, 99};",
                  "mov.u64 %rd1, table;\nadd.s64 %rd2, %rd1, %rd5;\nld.global.nc.f32 %f1, [%rd2];\nst.global.f32 [%rd7], %f1;\n"
                  "mov.u64 %rd3, $str;\ncvta.global.u64 %rd4, %rd3;\nst.local.u64 [%rd8], %rd4;\n"
                  "{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd4;\n.param .b32 retval0;\ncall.uni (retval0),\nvprintf,\n(\nparam0\n);\n}"),
            Names{});
}

}  // namespace
}  // namespace onelaunch::sandbox
