#include "tests/agent/tools/toolbox_fixture.h"

namespace onelaunch::agent {
namespace {

using TrialTools = ToolboxTest;

sandbox::Compiled failed(const std::string& log) {
  sandbox::Compiled compiled;
  compiled.outcome = sandbox::CompileFailed{log};
  return compiled;
}

TEST_F(TrialTools, CompileAnswersResources) {
  bench.on_compile = [](const Proposal& proposal, Deadline) {
    sandbox::Compiled compiled = fakes::FakeWorkbench::passed(proposal);
    compiled.resources = {.registers = 80, .static_smem_bytes = 1024, .spill_bytes = 16};
    compiled.launch.block = 256, compiled.launch.grid = sandbox::LaunchDeclaration::kPerSm | 2;
    return Result<sandbox::Compiled>(compiled);
  };
  const std::string reply = text("compile", {{"defines", {"A=2"}}});
  EXPECT_THAT(reply, HasSubstr("80 registers"));
  EXPECT_THAT(reply, HasSubstr("16 bytes of spills"));
  EXPECT_THAT(reply, HasSubstr("2 blocks per SM of 256 threads"));
  EXPECT_THAT(reply, HasSubstr("tunables: A=2"));
}

TEST_F(TrialTools, CompileAnswersTheFirstErrors) {
  bench.on_compile = [](const Proposal&, Deadline) {
    std::string log;
    for (int i = 1; i <= 9; ++i) log += "kernel.cu(" + std::to_string(i) + "): error: wrong " + std::to_string(i) + "\n  here\n";
    return Result<sandbox::Compiled>(failed(log));
  };
  const std::string reply = error("compile");
  EXPECT_THAT(reply, HasSubstr("kernel.cu(1): error: wrong 1\n  here\n"));
  EXPECT_THAT(reply, HasSubstr("wrong 5"));
  EXPECT_THAT(reply, Not(HasSubstr("wrong 6")));
  EXPECT_THAT(reply, HasSubstr("4 more errors"));
}

TEST_F(TrialTools, CutWhatIsLongInTheMiddleAndSayHowMuch) {
  bench.on_compile = [](const Proposal&, Deadline) {
    std::string log = "kernel.cu(1): error: deep\n";
    for (int i = 0; i < 4000; ++i) log += "  instantiated from here, level " + std::to_string(i) + "\n";
    return Result<sandbox::Compiled>(failed(log));
  };
  const std::string reply = error("compile");
  EXPECT_LT(reply.size(), 14000u);
  EXPECT_THAT(reply, HasSubstr("kernel.cu(1): error: deep"));
  EXPECT_THAT(reply, HasSubstr("level 3999"));
  EXPECT_THAT(reply, testing::ContainsRegex("[.]{3} [0-9]+ bytes left out"));
}

TEST_F(TrialTools, BadDefinesReachNobody) {
  bench.on_compile = [](const Proposal&, Deadline) -> Result<sandbox::Compiled> { return ADD_FAILURE(), unavailable("reached"); };
  for (const char* name : {"compile", "emulate", "profile", "disassemble"}) {
    EXPECT_THAT(error(name, {{"defines", {"A"}}}), HasSubstr("NAME=VALUE")) << name;
    EXPECT_THAT(error(name, {{"defines", "A=1"}}), HasSubstr("array of strings")) << name;
  }
}

TEST_F(TrialTools, AreRefusedWhenTheyCannotFinish) {
  clock.advance(3600 - 180 - 1);
  for (const char* name : {"compile", "emulate", "profile"}) EXPECT_THAT(error(name), HasSubstr("1 s are left")) << name;
}

TEST_F(TrialTools, AreRefusedWhenTheLastOneTookLongerThanIsLeft) {
  bench.on_emulate = [&](const Proposal&, const sandbox::GradeRequest&, Deadline) {
    clock.advance(400);
    return Result<sandbox::Grade>(sandbox::Grade{});
  };
  text("emulate");
  clock.advance(3600 - 180 - 400 - 300);
  EXPECT_THAT(error("emulate"), HasSubstr("takes about 440 s, and 300 s are left"));
}

TEST_F(TrialTools, AreRefusedOnceTheSessionIsAskedToStop) {
  bench.stopped = true;
  for (const char* name : {"compile", "emulate", "profile"}) EXPECT_THAT(error(name), HasSubstr("asked to stop")) << name;
  EXPECT_THAT(error("evaluate", {{"note", "n"}}), HasSubstr("asked to stop"));
}

TEST_F(TrialTools, EmulateAsksForDetectorsAndOrders) {
  sandbox::GradeRequest seen;
  bench.on_emulate = [&](const Proposal&, const sandbox::GradeRequest& request, Deadline) {
    seen = request;
    return Result<sandbox::Grade>(sandbox::Grade{});
  };
  EXPECT_THAT(text("emulate", {{"schedules", 5}}), HasSubstr("variant tiny, 5 orders"));
  EXPECT_TRUE(seen.detect);
  EXPECT_EQ(seen.schedules, 5);
  error("emulate", {{"schedules", 17}});
  error("emulate", {{"schedules", 0}});
}

TEST_F(TrialTools, EmulateTellsWhatWasFound) {
  bench.on_emulate = [&](const Proposal&, const sandbox::GradeRequest&, Deadline) {
    sandbox::Grade grade;
    grade.outcome = sandbox::Faulted{.kind = "race", .message = "kernel.cu:12: blocks 3 and 4 write the same word"};
    grade.printed = "hello";
    return Result<sandbox::Grade>(grade);
  };
  const std::string reply = text("emulate");
  EXPECT_THAT(reply, HasSubstr("kernel.cu:12: blocks 3 and 4"));
  EXPECT_THAT(reply, HasSubstr("hello"));
}

TEST_F(TrialTools, ProfileSaysWhenThereIsNone) {
  EXPECT_THAT(error("profile"), HasSubstr("no profiler"));
  bench.on_profile = [](const Proposal&, Deadline) { return Result<std::string>("phase norm 3 us\n"); };
  EXPECT_THAT(text("profile"), HasSubstr("phase norm 3 us"));
}

TEST_F(TrialTools, MicrobenchAnswersCeilings) { EXPECT_THAT(text("microbench"), HasSubstr("4.71 TB/s")); }

TEST_F(TrialTools, DisassembleCountsAndFilters) {
  bench.on_compile = [](const Proposal& proposal, Deadline) {
    sandbox::Compiled compiled = fakes::FakeWorkbench::passed(proposal);
    compiled.ptx = "// c\n  ld.global.u32 %r1, [%rd1];\n  @%p1 ld.global.u32 %r2, [%rd2];\n  add.s32 %r3, %r1, %r2;\n$L1:\n  ret;\n";
    return Result<sandbox::Compiled>(compiled);
  };
  std::string reply = text("disassemble");
  EXPECT_THAT(reply, HasSubstr("PTX: 6 lines; ld.global.u32 2, add.s32 1, ret 1"));
  EXPECT_THAT(reply, HasSubstr("nvdisasm"));
  EXPECT_THAT(reply, Not(HasSubstr("%rd1")));
  reply = text("disassemble", {{"pattern", "ld\\.global.*%rd2"}});
  EXPECT_THAT(reply, HasSubstr("PTX: 1 lines match\n3    @%p1 ld.global.u32 %r2, [%rd2];\n"));
  bench.sass = "        /*0010*/                   LDG.E R4, [R2] ;\n        /*0020*/              @!P0 EXIT ;\n";
  reply = text("disassemble", {{"pattern", "LDG"}});
  EXPECT_THAT(reply, HasSubstr("machine code: EXIT 1, LDG.E 1"));
  EXPECT_THAT(reply, HasSubstr("machine code: 1 lines match"));
  error("disassemble", {{"pattern", "("}});
  error("disassemble", {{"pattern", std::string(201, 'a')}});
}

TEST_F(TrialTools, DisassembleHoldsOutAgainstPatternsThatBacktrack) {
  bench.on_compile = [](const Proposal& proposal, Deadline) {
    sandbox::Compiled compiled = fakes::FakeWorkbench::passed(proposal);
    compiled.ptx = std::string(100000, 'a') + "\n";
    return Result<sandbox::Compiled>(compiled);
  };
  EXPECT_THAT(text("disassemble", {{"pattern", "(a*)*(a*)*(a*)*b"}}), HasSubstr("0 lines match"));
  EXPECT_THAT(text("disassemble", {{"pattern", "(((a{100}){100}){100}){100}"}}), HasSubstr("0 lines match"));
}

}  // namespace
}  // namespace onelaunch::agent
