#include "sandbox/host/static_gate.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

DeviceFacts an_h200() {
  DeviceFacts facts;
  facts.target = "sm_90a";
  facts.sms = 132, facts.threads_per_sm = 2048, facts.threads_per_block = 1024, facts.blocks_per_sm = 32;
  facts.registers_per_sm = 65536, facts.registers_per_thread = 255;
  facts.shared_per_sm = 233472, facts.shared_per_block = 232448, facts.shared_reserved_per_block = 1024;
  return facts;
}

struct Kernel {
  std::string launch = "256, 132, 0, 1, 256, 0, 0, 0";
  std::string more;  // declarations and entries
  int registers = 64;
  std::uint64_t static_smem = 0;
};

CompileReply compiled(const Kernel& kernel) {
  CompileReply reply;
  reply.status = CompileReply::Status::compiled;
  reply.ptx = ".version 9.0\n.const .align 8 .u64 ol_launch[8] = {" + kernel.launch + "};\n" + kernel.more +
              "\n.visible .entry megakernel(.param .u64 a)\n{\nret;\n}\n";
  reply.entries.push_back({"megakernel", kernel.registers, kernel.static_smem, 0, 0});
  return reply;
}

std::string refusal(const Kernel& kernel) {
  const auto verdict = static_gate(compiled(kernel), an_h200(), gate_limits(0));
  const Refused* refused = std::get_if<Refused>(&verdict);
  return refused == nullptr ? "" : refused->rule + ": " + refused->message;
}
bool says(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (message.find(word) == std::string::npos) return false;
  return true;
}

TEST(StaticGate, PassesAKernelThatFits) {
  const auto verdict = static_gate(compiled({}), an_h200(), gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Declarations>(verdict)) << refusal({});
  EXPECT_EQ(std::get<Declarations>(verdict).launch.block, 256u);
  EXPECT_EQ(std::get<Declarations>(verdict).resources.registers, 64);
}

TEST(StaticGate, RefusesBlocksThatAreTooLargeOrEmpty) {
  EXPECT_TRUE(says(refusal({.launch = "1056, 132"}), {"block:", "1056", "1024"})) << refusal({.launch = "1056, 132"});
  EXPECT_TRUE(says(refusal({.launch = "0, 132"}), {"block:"}));
}

// `.const .u64 ol_launch[8] = {a, b}` leaves the rest zero, as a designated initialiser does.
TEST(StaticGate, TakesZerosForWhatADeclarationLeavesOut) {
  const auto verdict = static_gate(compiled({.launch = "256, 132"}), an_h200(), gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Declarations>(verdict));
  EXPECT_EQ(std::get<Declarations>(verdict).launch.cluster, 1u);
}

TEST(StaticGate, RefusesTooManyRegistersWithTheNumbers) {
  const std::string message = refusal({.launch = "512, 132", .registers = 255});
  EXPECT_TRUE(says(message, {"registers:", "255", "512", "130560", "65536"})) << message;
}

TEST(StaticGate, RefusesTooMuchSharedMemoryWithTheNumbers) {
  const std::string message = refusal({.launch = "256, 132, 200000", .static_smem = 40000});
  EXPECT_TRUE(says(message, {"shared_memory:", "240000", "40000 static", "200000 dynamic", "232448"})) << message;
  EXPECT_NE(refusal({.launch = "256, 132, 18446744073709551615", .static_smem = 40000}), "");
}

TEST(StaticGate, RefusesAGridThatCannotBeResidentWithTheNumbers) {
  const std::string message = refusal({.launch = "256, 300, 120000"});
  EXPECT_TRUE(says(message, {"grid:", "300", "132", "shared memory"})) << message;
  EXPECT_EQ(refusal({.launch = "256, 264, 110000"}), "");
  const std::string per_sm = refusal({.launch = "1024, 4294967299", .registers = 32});  // three a SM
  EXPECT_TRUE(says(per_sm, {"396", "threads"})) << per_sm;
  EXPECT_NE(refusal({.launch = "256, 0"}), "");
}

TEST(StaticGate, RefusesTooMuchSync) {
  const std::string message = refusal({.launch = "256, 132, 0, 1, 1048577"});
  EXPECT_TRUE(says(message, {"sync_bytes", "1048577", "1048576"})) << message;
}

TEST(StaticGate, TakesClustersThatDivideTheGrid) {
  EXPECT_EQ(refusal({.launch = "256, 132, 0, 2"}), "");
  EXPECT_EQ(refusal({.launch = "256, 132, 0, 4"}), "");
  EXPECT_TRUE(says(refusal({.launch = "256, 132, 0, 8"}), {"cluster:", "8", "132"})) << refusal({.launch = "256, 132, 0, 8"});
  EXPECT_TRUE(says(refusal({.launch = "256, 132, 0, 3"}), {"cluster:", "3", "1, 2, 4, 8 or 16"}));
  EXPECT_TRUE(says(refusal({.launch = "256, 128, 0, 32"}), {"cluster:", "32"}));
}

TEST(StaticGate, RefusesClustersWhereThereAreNone) {
  DeviceFacts older = an_h200();
  older.target = "sm_89";
  const auto verdict = static_gate(compiled({.launch = "256, 128, 0, 2"}), older, gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Refused>(verdict));
  EXPECT_TRUE(says(std::get<Refused>(verdict).message, {"sm_89", "has no clusters"}));
}

TEST(StaticGate, RefusesAModuleWithoutTheEntryAndNamesThoseItHas) {
  CompileReply reply = compiled({});
  reply.ptx = ".visible .entry other()\n{\nret;\n}\n";
  const auto verdict = static_gate(reply, an_h200(), gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Refused>(verdict));
  EXPECT_TRUE(says(std::get<Refused>(verdict).message, {"megakernel", "other"}));
}

TEST(StaticGate, RefusesAKernelThatTakesOtherParametersThanTheHeaders) {
  CompileReply reply = compiled({});
  reply.ptx = ".const .align 8 .u64 ol_launch[8] = {256, 132};\n.visible .entry megakernel(\n.param .align 8 .b8 a[64],\n"
              ".param .u32 b\n)\n{\nret;\n}\n";
  GateLimits limits = gate_limits(0);
  limits.args_bytes = 68;
  EXPECT_TRUE(std::holds_alternative<Declarations>(static_gate(reply, an_h200(), limits)));
  limits.args_bytes = 64;
  const auto verdict = static_gate(reply, an_h200(), limits);
  ASSERT_TRUE(std::holds_alternative<Refused>(verdict));
  EXPECT_TRUE(says(std::get<Refused>(verdict).message, {"68 bytes", "64", "ol::Args"})) << std::get<Refused>(verdict).message;
}

TEST(StaticGate, RefusesAModuleWithoutALaunchDeclaration) {
  CompileReply reply = compiled({});
  reply.ptx = ".visible .entry megakernel()\n{\nret;\n}\n";
  const auto verdict = static_gate(reply, an_h200(), gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Refused>(verdict));
  EXPECT_EQ(std::get<Refused>(verdict).rule, "launch");
}

TEST(StaticGate, RunsPrepareKernelsInFileOrderAndRefusesUndeclaredOnes) {
  const std::string entries = ".visible .entry b()\n{\nret;\n}\n.visible .entry a()\n{\nret;\n}\n";
  const std::string declared =
      ".const .u64 ol_prepare_a[4] = {2, 256, 10, 0};\n.const .u64 ol_prepare_b[4] = {1, 256, 10, 0};\n";
  const auto verdict = static_gate(compiled({.more = declared + entries}), an_h200(), gate_limits(0));
  ASSERT_TRUE(std::holds_alternative<Declarations>(verdict));
  EXPECT_EQ(std::get<Declarations>(verdict).prepares.at(0).name, "b");
  EXPECT_TRUE(says(refusal({.more = entries}), {"entry:", "OL_PREPARE"}));
  EXPECT_TRUE(says(refusal({.more = declared}), {"entry:", "no such kernel"}));
}

TEST(StaticGate, RefusesWrittenGlobalsAndSaysWhatToDo) {
  const std::string more = ".global .b32 calls;\n.func f()\n{\nst.global.u32 [calls], %r1;\nret;\n}\n";
  EXPECT_TRUE(says(refusal({.more = more}), {"mutable_global:", "calls", "args.sync"})) << refusal({.more = more});
}

TEST(StaticGate, AllowsTheClockAndWhatProfilingBringsInMarkedBuildsOnly) {
  const std::string marks = ".visible .global .align 8 .b8 ol_profile_attached[24];\n"
                            ".visible .entry ol_profile_attach(.param .u64 a)\n{\nmov.u64 %rd1, %globaltimer;\nst.global.u64 [ol_profile_attached], %rd1;\nret;\n}";
  GateLimits marked = gate_limits(0);
  marked.marked = true;
  const auto verdict = static_gate(compiled({.more = marks}), an_h200(), marked);
  EXPECT_TRUE(std::holds_alternative<Declarations>(verdict)) << std::get<Refused>(verdict).message;
  EXPECT_TRUE(says(refusal({.more = marks}), {"entry:", "ol_profile_attach"})) << refusal({.more = marks});
  for (const char* more : {".visible .entry other(.param .u64 a)\n{\nret;\n}", ".global .u64 mine;\n.func f()\n{\nst.global.u64 [mine], %rd1;\nret;\n}",
                           ".func f()\n{\nmov.u64 %rd1, %clock64;\nret;\n}"})
    EXPECT_TRUE(std::holds_alternative<Refused>(static_gate(compiled({.more = more}), an_h200(), marked))) << more;
}

}  // namespace
}  // namespace onelaunch::sandbox
