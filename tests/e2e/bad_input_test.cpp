// Each kind of bad input gets an answer that says what to do, and the exit status that the manual promises.
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"

namespace onelaunch::e2e {
namespace {

struct BadInput : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return onelaunch(arguments, folder.path().string()); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  }
  // Grades a kernel for rmsnorm_linear.
  Ended eval(const std::string& source) const {
    return run({"eval", "rmsnorm_linear", write("kernel.cu", source), "--variant", "tiny", "--check", "quick",
                "--limit", "10s"});
  }
  TemporaryFolder folder;
};

void expect(const Ended& ended, int code, const std::string& words) {
  EXPECT_EQ(ended.code, code) << ended.out;
  EXPECT_NE(ended.out.find(words), std::string::npos) << ended.out;
}

const std::string kHeader = "#include <onelaunch.cuh>\n";
const std::string kEntry = "extern \"C\" __global__ void megakernel(const __grid_constant__ ol::Args args)";

TEST_F(BadInput, AnUnknownTaskIsAnsweredWithTheKnownOnes) {
  expect(run({"run", "no_such_task", "--wall", "5s"}), 2, "rmsnorm_linear");
}

TEST_F(BadInput, AnUnknownVariantIsRefused) {
  expect(run({"run", "rmsnorm_linear", "--variant", "huge", "--wall", "5s"}), 2, "huge");
}

TEST_F(BadInput, AMalformedTaskNamesTheLine) {
  const std::string file = write("task.json", "{\n  \"format\": \"onelaunch.task/1\",\n  \"name\": oops\n}\n");
  expect(run({"tasks", "check", file}), 2, "3");
  expect(run({"run", file, "--wall", "5s"}), 2, "task.json");
}

TEST_F(BadInput, ACapOfNothingIsAUsageError) {
  for (const char* wall : {"0", "0s", "-1h", "soon"}) {
    const Ended ended = run({"run", "rmsnorm_linear", "--variant", "tiny", std::string("--wall=") + wall});
    expect(ended, 2, "--wall");
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "traces")) << "nothing was begun";
}

TEST_F(BadInput, ADeviceThatIsNotThereIsSaidPlainly) {
  expect(run({"run", "rmsnorm_linear", "--device", "cuda:99", "--wall", "5s"}), 1,
         std::filesystem::exists("/proc/driver/nvidia/version") ? "there is no device cuda:99" : "--device emu needs none");
  expect(run({"run", "rmsnorm_linear", "--device", "tpu", "--wall", "5s"}), 2, "auto, cuda:N, emu");
}

TEST_F(BadInput, AnUnknownAgentIsAnsweredWithTheKnownOnes) {
  expect(run({"run", "rmsnorm_linear", "--agent", "wizard", "--wall", "5s"}), 2, "tuner");
}

TEST_F(BadInput, AnOutputDirectoryThatCannotBeWrittenIsOurError) {
  expect(run({"run", "rmsnorm_linear", "--variant", "tiny", "--wall", "5s", "--out", "/proc/onelaunch-run"}), 1,
         "/proc/onelaunch-run");
}

TEST_F(BadInput, ResumingADirectoryWithoutASessionIsRefused) {
  std::filesystem::create_directory(folder.path() / "empty");
  expect(run({"run", "--resume", (folder.path() / "empty").string()}), 2, "empty");
}

TEST_F(BadInput, AKernelFileThatIsMissingIsAUsageError) {
  expect(run({"eval", "rmsnorm_linear", "none.cu", "--variant", "tiny"}), 2, "none.cu");
}

TEST_F(BadInput, AnUnknownSubcommandAndNoSubcommandAreUsageErrors) {
  EXPECT_EQ(run({"fly"}).code, 2);
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--help"}).code, 0);
}

TEST_F(BadInput, EverySubcommandHelpsWithAnExample) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"doctor"},
                                                  {"run"},
                                                  {"eval"},
                                                  {"compare"},
                                                  {"profile"},
                                                  {"microbench"},
                                                  {"export"},
                                                  {"mcp"},
                                                  {"submit"},
                                                  {"replay"},
                                                  {"leaderboard"},
                                                  {"trace", "verify"},
                                                  {"tasks", "list"},
                                                  {"tasks", "show"},
                                                  {"tasks", "dump"},
                                                  {"tasks", "check"}}) {
    std::vector<std::string> words = command;
    words.push_back("--help");
    const Ended ended = run(words);
    EXPECT_EQ(ended.code, 0) << ended.out;
    EXPECT_NE(ended.out.find("Example:"), std::string::npos) << ended.out;
  }
}

TEST_F(BadInput, AKernelWithoutTheEntryIsRejected) {
  expect(eval(kHeader + "OL_LAUNCH(.block = 32, .grid = 1);\nextern \"C\" __global__ void other() {}\n"), 3,
         "megakernel");
}

TEST_F(BadInput, AKernelWithoutDeclarationsIsRejected) { expect(eval(kHeader + kEntry + " {}\n"), 3, "OL_LAUNCH"); }

TEST_F(BadInput, MoreBlocksThanFitAtOnceAreRejectedWithTheNumbers) {
  expect(eval(kHeader + "OL_LAUNCH(.block = 1024, .grid = 100000);\n" + kEntry + " {}\n"), 3, "100000");
}

TEST_F(BadInput, ReadingAFileOfTheMachineIsRefusedAndItsContentNotShown) {
  const Ended ended = eval(kHeader + "#include \"/etc/passwd\"\n" + kEntry + " {}\n");
  EXPECT_EQ(ended.code, 3) << ended.out;
  EXPECT_EQ(ended.out.find("root:"), std::string::npos) << ended.out;
}

TEST_F(BadInput, AKernelThatNeverReturnsIsRejected) {
  const Ended ended = eval(kHeader + "OL_LAUNCH(.block = 32, .grid = 1);\n" + kEntry +
                           " {\n  volatile unsigned* flag = (unsigned*)args.scratch; while (true) *flag += 1;\n}\n");
  EXPECT_EQ(ended.code, 3) << ended.out;
}

TEST_F(BadInput, AKernelThatWritesOutOfBoundsIsRejected) {
  const Ended ended = eval(kHeader + "OL_LAUNCH(.block = 32, .grid = 1);\n" + kEntry +
                           " {\n  reinterpret_cast<unsigned char*>(args.y)[1 << 20] = 1;\n}\n");
  expect(ended, 3, "out_of_bounds");
}

TEST_F(BadInput, AKernelThatWritesNothingIsRejected) {
  expect(eval(kHeader + "OL_LAUNCH(.block = 32, .grid = 1);\n" + kEntry + " {}\n"), 3, "y");
}

// What an author needs: which tensor, where in it, by how much, and how to see it again.
TEST_F(BadInput, ARejectionSaysWhereAndHowToReproduceIt) {
  const std::string kernel = kHeader + "OL_LAUNCH(.block = 32, .grid = 1);\n" + kEntry +
                             " {\n  for (int i = threadIdx.x; i < 256; i += 32) args.y[i] = args.token[0];\n}\n";
  const Ended ended = eval(kernel);
  EXPECT_EQ(ended.code, 3) << ended.out;
  for (const char* word : {"element of y", "y[", "times what is allowed", "reproduce onelaunch eval rmsnorm_linear", "--seed "})
    EXPECT_NE(ended.out.find(word), std::string::npos) << word << "\n" << ended.out;
}

TEST_F(BadInput, AnUnknownTunableIsRejected) {
  const std::string seed = std::string(ONELAUNCH_TASKS_FOLDER) + "/rmsnorm_linear/seed.cu";
  expect(run({"eval", "rmsnorm_linear", seed, "--variant", "tiny", "-D", "NO_SUCH=1"}), 3, "NO_SUCH");
}

}  // namespace
}  // namespace onelaunch::e2e
