#include "tests/sandbox/emulator/ops/cases.h"

namespace onelaunch::emu::bench {

std::vector<Case> move_cases() {
  return {
      {"Mov", "mov.b32 $w, $w", [](const u64* s) { return s[0]; }},
      {"Mov", "mov.f32 $w, $w", [](const u64* s) { return s[0]; }},
      {"Mov", "mov.b64 $d, $d", [](const u64* s) { return s[0]; }},
      {"Mov", "mov.b16 $h, $h", [](const u64* s) { return s[0]; }},
      {"Mov", "mov.pred $p, $p", [](const u64* s) { return s[0]; }},
      {"Mov", "mov.b32 $w, {$h, $h}", [](const u64* s) { return s[0] | s[1] << 16; }},
      {"Mov", "mov.b64 $d, {$w, $w}", [](const u64* s) { return s[0] | s[1] << 32; }},
      {"Mov", "mov.b64 $d, {$h, $h, $h, $h}",
       [](const u64* s) { return s[0] | s[1] << 16 | s[2] << 32 | s[3] << 48; }},
      {"Mov", "mov.b32 {$h, $h}, $w", [](const u64* s) { return s[0] & 0xffff; }, 0,
       [](const u64* s) { return s[0] >> 16; }},
      {"Mov", "mov.b64 {$w, $w}, $d", [](const u64* s) { return s[0] & 0xffffffff; }, 0,
       [](const u64* s) { return s[0] >> 32; }},
      {"Mov", "mov.b64 {_, $w}, $d", [](const u64* s) { return s[0] >> 32; }},
      {"Mov", "mov.u32 $w, %laneid", {}},
  };
}

std::vector<Case> warp_cases() {
  std::vector<Case> cases;
  for (const char* mode : {"up", "down", "bfly", "idx"})
    for (const char* clamp : {"31", "0", "6175", "$w"})  // 6175: segments of eight lanes
      cases.push_back({"Shuffle", std::string("shfl.sync.") + mode + ".b32 $w|$p, $w, $w, " + clamp + ", -1", {}});
  for (const char* mode : {"all", "any", "uni"}) {
    cases.push_back({"Vote", std::string("vote.sync.") + mode + ".pred $p, $p, -1", {}});
    cases.push_back({"Vote", std::string("vote.sync.") + mode + ".pred $p, !$p, -1", {}});
  }
  cases.push_back({"Vote", "vote.sync.ballot.b32 $w, $p, -1", {}});
  cases.push_back({"Vote", "vote.sync.ballot.b32 $w, !$p, -1", {}});
  cases.push_back({"Match", "match.any.sync.b32 $w, $w, -1", {}});
  cases.push_back({"Match", "match.any.sync.b64 $w, $d, -1", {}});
  cases.push_back({"Match", "match.all.sync.b32 $w|$p, $w, -1", {}});
  cases.push_back({"Match", "match.all.sync.b64 $w|$p, $d, -1", {}});
  for (const char* what : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    cases.push_back({"Redux", std::string("redux.sync.") + what + " $w, $w, -1", {}});
  cases.push_back({"Elect", "elect.sync $w|$p, -1", {}});
  cases.push_back({"ActiveMask", "activemask.b32 $w", {}});
  return cases;
}

std::vector<Case> matrix_cases() {
  const auto vector = [](int count) {
    std::string text = "{$w";
    for (int i = 1; i < count; ++i) text += ", $w";
    return text + "}";
  };
  const auto mma = [&](const std::string& shape, const std::string& types, int a, int b) {
    return Case{"Mma", "mma.sync.aligned." + shape + ".row.col" + types + " " + vector(4) + ", " + vector(a) + ", " +
                           vector(b) + ", " + vector(4), {}};
  };
  std::vector<Case> cases;
  for (const std::string type : {"bf16", "f16"}) {
    cases.push_back(mma("m16n8k16", ".f32." + type + "." + type + ".f32", 4, 2));
    cases.push_back(mma("m16n8k8", ".f32." + type + "." + type + ".f32", 2, 1));
  }
  cases.push_back(mma("m16n8k8", ".f32.tf32.tf32.f32", 4, 2));
  cases.push_back(mma("m16n8k4", ".f32.tf32.tf32.f32", 2, 1));
  for (const std::string types : {".s32.s8.s8.s32", ".s32.u8.u8.s32", ".s32.s8.u8.s32", ".s32.u8.s8.s32"})
    for (const std::string satfinite : {"", ".satfinite"}) {
      cases.push_back(mma("m16n8k16", satfinite + types, 2, 1));
      cases.push_back(mma("m16n8k32", satfinite + types, 4, 2));
    }
  return cases;
}

}  // namespace onelaunch::emu::bench
