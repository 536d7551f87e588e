// compare and microbench as a user runs them, on the emulator.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"

namespace onelaunch::e2e {
namespace {

const std::string kSeed = ONELAUNCH_TASKS_FOLDER "/rmsnorm_linear/seed.cu";

struct CompareProgram : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return onelaunch(arguments, folder.path().string()); }
  Ended compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"compare", "rmsnorm_linear"});
    arguments.insert(arguments.end(), {"--variant", "tiny", "--seed", "3"});
    return run(arguments);
  }
  TemporaryFolder folder;
};

void expect(const Ended& ended, int code, const std::string& words) {
  EXPECT_EQ(ended.code, code) << ended.out;
  EXPECT_NE(ended.out.find(words), std::string::npos) << ended.out;
}

TEST_F(CompareProgram, GradesEveryCombinationOfValues) {
  const Ended ended = compare({kSeed, "-D", "BLOCK=128,256", "-D", "ROWS=1,2", "--device", "emu"});
  expect(ended, 0, "BLOCK=256 ROWS=2");
  expect(ended, 0, "modelled");
  expect(ended, 0, "the first");
}

TEST_F(CompareProgram, ARejectedKernelIsShownWithItsReason) {
  std::ofstream(folder.path() / "broken.cu") << "#include <onelaunch.cuh>\nint x = ;\n";
  const Ended ended = compare({kSeed, "broken.cu", "--device", "emu"});
  expect(ended, 3, "compile_failed");
  expect(ended, 3, "expected an expression");
}

TEST_F(CompareProgram, BadInputIsAUsageErrorThatSaysWhatIsWrong) {
  expect(compare({kSeed, "none.cu", "--device", "emu"}), 2, "none.cu");
  expect(compare({kSeed, "-D", "BLOCK", "--device", "emu"}), 2, "-D BLOCK: NAME=VALUE");
  expect(compare({kSeed, "-D", "BLOCK=128,,256", "--device", "emu"}), 2, "a value is missing");
  expect(compare({kSeed, "--device", "emu"}), 2, "nothing to compare");
  expect(compare({kSeed, kSeed, "--device", "tpu"}), 2, "auto, cuda:N, emu");
  expect(run({"compare", "no_such_task", kSeed, kSeed}), 2, "rmsnorm_linear");
}

TEST_F(CompareProgram, TheEmulatorsCeilingsAreSaidToBeModelled) {
  const Ended ended = run({"microbench", "--device", "emu"});
  expect(ended, 0, "nothing was measured");
  expect(ended, 0, "TB/s (modelled)");
  expect(run({"microbench", "--device", "emu", "--json"}), 0, "\"modelled\": true");
  expect(run({"microbench", "--device", "tpu"}), 2, "auto, cuda:N, emu");
  expect(run({"microbench", "--device", "cuda:99"}), 1, "starting the GPU");
}

TEST_F(CompareProgram, BothHelpWithAnExample) {
  for (const char* command : {"compare", "microbench"}) expect(run({command, "--help"}), 0, std::string("onelaunch ") + command);
}

}  // namespace
}  // namespace onelaunch::e2e
