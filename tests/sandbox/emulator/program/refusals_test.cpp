#include <gtest/gtest.h>

#include "tests/sandbox/emulator/program/fake_rows.h"

namespace onelaunch::emu {
namespace {

std::string refused(const std::string& statements) {
  return refusal_of(".visible .entry k() {\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n" + statements + "\nret;\n}");
}

TEST(Refusals, NameAModifierThatNobodyTook) {
  EXPECT_EQ(refused("ld.global.foo.u32 %r1, [%rd1];"),
            "entry k: PTX line 3: ld.global.foo.u32: modifier .foo of ld is not implemented");
}

TEST(Refusals, NameAnOpcodeThatIsNotInTheTable) {
  EXPECT_EQ(refused("tex.2d.v4.f32.f32 %r1, %r2;"), "entry k: PTX line 3: tex.2d.v4.f32.f32: tex is not implemented");
}

TEST(Refusals, NameAModifierOfABranch) {
  EXPECT_EQ(refused("L: bra.sometimes L;"), "entry k: PTX line 3: bra.sometimes: modifier .sometimes of bra is not implemented");
}

TEST(Refusals, NameAnUnknownSymbol) {
  EXPECT_EQ(refused("ld.global.u32 %r1, [nowhere];"), "entry k: PTX line 3: symbol nowhere is not defined");
  EXPECT_EQ(refused("mov.u64 %rd1, nowhere;"), "entry k: PTX line 3: symbol nowhere is not defined");
}

TEST(Refusals, NameTensorCoordinates) {
  EXPECT_EQ(refused("ld.global.u32 %r1, [%rd1, {%r1}];"),
            "entry k: PTX line 3: addresses with tensor coordinates are not implemented");
}

TEST(Refusals, OfUnreachableCodeAreNotMade) { EXPECT_EQ(refused("ret; tex.2d %r1, %r2;"), ""); }

TEST(Refusals, NameAnEntryThatIsNotThere) { EXPECT_EQ(refusal_of(".func k() { ret; }"), "the module has no entry k"); }

}  // namespace
}  // namespace onelaunch::emu
