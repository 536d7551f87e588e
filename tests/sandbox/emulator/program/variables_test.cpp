#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

const std::string kRegisters = ".reg .b32 %r<9>; .reg .b64 %rd<9>;\n";

TEST(Variables, PlaceParametersAtTheirAlignment) {
  const auto program = decoded(entry(kRegisters + "ld.param.u64 %rd1, [b]; ld.param.u32 %r1, [c+4]; ret;",
                                     ".param .u32 a, .param .u64 b, .param .align 4 .b8 c[12]"));
  const auto loads = ops_of(*program, "ld");
  EXPECT_EQ(loads[0].imm, 8u);
  EXPECT_EQ(loads[1].imm, 20u) << "16 of the parameter and 4 of the offset";
  EXPECT_EQ(program->param_bytes, 28u);
}

TEST(Variables, PlaceSharedMemoryWithTheDynamicPartLast) {
  const auto program = decoded(".extern .shared .align 128 .b8 dyn[];\n" +
                               entry(".shared .align 4 .b8 a[100]; .shared .align 8 .u64 b;\n" + kRegisters +
                                     "st.shared.u32 [dyn], %r1; st.shared.u32 [a], %r1; st.shared.u64 [b+8], %rd1; ret;"));
  const auto stores = ops_of(*program, "st");
  EXPECT_EQ(stores[0].imm, kSharedStart + 128);
  EXPECT_EQ(stores[1].imm, kSharedStart);
  EXPECT_EQ(stores[2].imm, kSharedStart + 104 + 8);
  EXPECT_EQ(program->shared_static_bytes, 128u);
}

TEST(Variables, GiveModuleSharedMemoryAPlaceOnlyWhenUsed) {
  const auto program = decoded(".shared .b8 used[16];\n.shared .b8 unused[4096];\n" +
                               entry(kRegisters + "mov.u64 %rd1, used; st.global.u64 [%rd2], %rd1; ret;"));
  EXPECT_EQ(program->shared_static_bytes, 16u);
}

TEST(Variables, FoldAddressesOfGlobalsIntoConstants) {
  const auto program = decoded(".global .align 4 .b8 t[16];\n" +
                               entry(kRegisters + "mov.u64 %rd1, t; cvta.global.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];\n"
                                                  "ld.global.u32 %r2, [t+8]; st.global.u32 [t], %r2; ret;"),
                               {{"t", 0x200000010000ull}});
  const auto loads = ops_of(*program, "ld");
  EXPECT_EQ(loads[0].imm, 0x200000010000ull + 4);
  EXPECT_EQ(loads[1].imm, 0x200000010000ull + 8);
  EXPECT_TRUE(ops_of(*program, "mov").empty());
  EXPECT_TRUE(ops_of(*program, "cvta").empty());
}

TEST(Variables, AddTheWindowWhenAnAddressBecomesGeneric) {
  const auto program = decoded(entry(".shared .b8 s[8]; .local .b8 depot[8];\n" + kRegisters +
                                     "mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2];\n"
                                     "mov.u64 %rd3, depot; cvta.local.u64 %rd4, %rd3; add.u64 %rd5, %rd4, 4; ld.u32 %r2, [%rd5];\n"
                                     "ld.local.u32 %r3, [%rd3]; ret;"));
  const auto loads = ops_of(*program, "ld");
  EXPECT_EQ(loads[0].imm, kSharedWindow + kSharedStart);
  EXPECT_EQ(loads[1].imm, kLocalWindow + 4);
  EXPECT_EQ(loads[2].imm, 0u);
  EXPECT_EQ(program->local_bytes, 8u);
}

TEST(Variables, GiveParameterAddressesWithoutAWindow) {
  const auto program = decoded(entry(kRegisters + "mov.b64 %rd1, b; ld.param.u32 %r1, [%rd1+4]; ret;",
                                     ".param .u64 a, .param .align 8 .b8 b[16]"));
  EXPECT_EQ(ops_of(*program, "ld")[0].imm, 12u);
}

}  // namespace
}  // namespace onelaunch::emu
