#include "tests/sandbox/emulator/ptx/parsed.h"

namespace onelaunch::emu::ptx {
namespace {

constexpr const char* kInlined = R"(
.visible .entry k() {
  .loc 1 540 3
  mov.b32 %r1, 0;
  .loc 1 300 5, function_name $L__info_string0, inlined_at 1 540 3
  .loc 2 212 7, function_name $L__info_string1, inlined_at 1 300 5
  bar.sync 0;
  .loc 1 0 7
  ret;
}
.file 1 "/src/kernel.cu"
.file 2 "/src/grid.h"
.section .debug_str {
$L__info_string0:
.b8 111,117,116,101,114,0
$L__info_string1:
.b8 105,110
.b8 0
}
)";

TEST(PtxSourceLines, ChainsToTheCallSites) {
  const Module module = parsed(kInlined);
  const auto& instructions = module.functions[0].instructions;
  EXPECT_EQ(module.where(instructions[0].location), "kernel.cu:540");
  EXPECT_EQ(module.where(instructions[1].location), "grid.h:212 (inlined at kernel.cu:300, kernel.cu:540)");
}

TEST(PtxSourceLines, NamesInlinedFunctions) {
  const Module module = parsed(kInlined);
  const auto location = static_cast<std::size_t>(module.functions[0].instructions[1].location);
  EXPECT_EQ(module.locations[location].function, "in");
  EXPECT_EQ(module.locations[static_cast<std::size_t>(module.locations[location].inlined_at)].function, "outer");
}

TEST(PtxSourceLines, StaysOnTheLastRealLineWhenTheCompilerHasNone) {
  const Module module = parsed(kInlined);
  EXPECT_EQ(module.functions[0].instructions[2].location, module.functions[0].instructions[1].location);
}

TEST(PtxSourceLines, IsEmptyWithoutLineInformation) {
  const Module module = parsed_body("ret;");
  EXPECT_EQ(module.where(module.functions[0].instructions[0].location), "");
}

TEST(PtxSourceLines, TakesEachPlaceOnce) {
  const Module module = parsed_body(".loc 1 5 1\nret;\n.loc 1 6 1\nret;\n.loc 1 5 1\nret;");
  EXPECT_EQ(module.locations.size(), 2u);
}

}  // namespace
}  // namespace onelaunch::emu::ptx
