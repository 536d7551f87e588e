#include <gtest/gtest.h>

#include "sandbox/emulator/ptx/module.h"

namespace onelaunch::emu::ptx {
namespace {

std::string module_of(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry kernel(.param .u64 kernel_param_0)\n{\n" + body + "\nret;\n}\n";
}

Module parsed(const std::string& text) {
  Result<Module> module = parse(text);
  EXPECT_TRUE(module) << module.error().message;
  return module ? std::move(*module) : Module{};
}

const Function& entry(const Module& module) {
  static const Function none;
  const Function* const found = module.find("kernel");
  EXPECT_NE(found, nullptr);
  return found ? *found : none;
}

TEST(PtxParser, ReadsHeaderEntryAndParameters) {
  const Module module = parsed(module_of(".reg .b32 %r<3>;", ".visible .func helper() { ret; }"));
  EXPECT_EQ(module.version, "9.0");
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_TRUE(entry(module).entry);
  ASSERT_EQ(entry(module).parameters.size(), 1u);
  EXPECT_EQ(entry(module).parameters[0].name, "kernel_param_0");
  EXPECT_EQ(entry(module).parameters[0].bytes, 8u);
  EXPECT_FALSE(module.find("helper")->entry);
}

TEST(PtxParser, KeepsModifiersGuardsAndOperandsInOrder) {
  const Module module = parsed(module_of(R"(
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .f32 %f<2>;
    @!%p1 ld.global.nc.L1::no_allocate.v2.u32 {%r1, _}, [%rd1+-4096];
    shfl.sync.bfly.b32 %r2|%p2, %r1, 16, 31, -1;
    fma.rn.f32 %f1, %f1, 0f3F800000, 0fBF000000;)"));
  const Function& kernel = entry(module);
  const Instruction& load = kernel.instructions.at(0);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.modifiers, (std::vector<std::string>{"global", "nc", "L1::no_allocate", "v2", "u32"}));
  EXPECT_TRUE(load.guard_negated);
  EXPECT_EQ(kernel.registers.at(static_cast<std::size_t>(load.guard)).name, "%p1");
  ASSERT_EQ(load.operands.size(), 2u);
  EXPECT_EQ(load.operands[0].elements.at(1).kind, Operand::Kind::sink);
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(load.operands[1].offset, -4096);
  EXPECT_TRUE(kernel.instructions.at(1).operands[0].is_pair);
  EXPECT_EQ(kernel.instructions.at(2).operands[2].value, 0x3F800000u);
}

TEST(PtxParser, GivesLabelsAndRegistersOfInlineAssemblyTheirOwnScope) {
  const std::string block = "{ .reg .pred done; .reg .b32 seen; AGAIN: ld.acquire.gpu.global.u32 seen, [%rd1]; setp.ne.u32 done, seen, 0; @!done bra AGAIN; }\n";
  const Module module = parsed(module_of(".reg .b64 %rd<2>;\n" + block + block));
  const Function& kernel = entry(module);
  EXPECT_EQ(kernel.labels.size(), 2u);
  const Instruction &first = kernel.instructions.at(2), &second = kernel.instructions.at(5);
  ASSERT_EQ(first.opcode, "bra");
  ASSERT_EQ(second.opcode, "bra");
  EXPECT_NE(first.operands[0].name, second.operands[0].name);
  EXPECT_NE(first.guard, second.guard);
  EXPECT_EQ(kernel.labels.at(second.operands[0].name), 3u);
}

TEST(PtxParser, ReadsVariablesWithTheirInitialBytesAndReferences) {
  const Module module = parsed(module_of("", R"(
    .const .align 8 .b8 ol_launch[16] = {64, 1, 0, 0, 0, 0, 0, 0, 2};
    .global .align 4 .f32 half = 0f3F000000;
    .global .align 8 .u64 where[2] = {half, generic(ol_launch)+8};
    .extern .shared .align 16 .b8 dynamic[];)"));
  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_EQ(module.variables[0].space, Space::constant);
  EXPECT_EQ(module.variables[0].initial.at(0), std::byte{64});
  EXPECT_EQ(module.variables[0].initial.at(8), std::byte{2});
  EXPECT_EQ(module.variables[0].bytes, 16u);
  EXPECT_EQ(module.variables[1].initial.at(3), std::byte{0x3f});
  ASSERT_EQ(module.variables[2].references.size(), 2u);
  EXPECT_EQ(module.variables[2].references[1].symbol, "ol_launch");
  EXPECT_EQ(module.variables[2].references[1].addend, 8);
  EXPECT_TRUE(module.variables[3].external);
}

TEST(PtxParser, FollowsLocationsThroughInlinedCalls) {
  const Module module = parsed(module_of(R"(
    .reg .b32 %r<2>;
    .loc 1 40 3
    mov.u32 %r1, 1;
    .loc 1 12 7, function_name $L__info_string0, inlined_at 1 40 3
    add.s32 %r1, %r1, 2;)") + "\n.file 1 \"kernel.cu\"\n");
  const Function& kernel = entry(module);
  EXPECT_EQ(module.where(kernel.instructions.at(0).location), "kernel.cu:40");
  const std::string inlined = module.where(kernel.instructions.at(1).location);
  EXPECT_NE(inlined.find("kernel.cu:12"), std::string::npos) << inlined;
  EXPECT_NE(inlined.find("kernel.cu:40"), std::string::npos) << inlined;
}

TEST(PtxParser, NamesTheLineOfWhatItDoesNotUnderstand) {
  for (const char* broken : {"add.s32 %r1, %r1", "ld.global.u32 %r1, [%rd1;", ".reg .b32 %q<;"}) {
    const Result<Module> module = parse(module_of(std::string(".reg .b32 %r<3>; .reg .b64 %rd<2>;\n") + broken));
    ASSERT_FALSE(module) << broken;
    EXPECT_EQ(module.error().kind, Error::Kind::invalid_input);
    EXPECT_NE(module.error().message.find("line "), std::string::npos) << module.error().message;
  }
}

TEST(PtxParser, AnswersEveryTruncationWithoutCrashing) {
  const std::string text = module_of(".reg .pred %p<2>; .reg .b32 %r<3>;\n.loc 1 2 3\n@%p1 bra $L1;\nmov.b64 {%r1, %r2}, 0d3FF0000000000000;\n$L1:\n");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const Result<Module> module = parse(std::string_view(text).substr(0, length));
    if (!module) {
      EXPECT_FALSE(module.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace onelaunch::emu::ptx
