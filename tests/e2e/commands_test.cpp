// The commands that look at tasks and at the machine.
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"

namespace onelaunch::e2e {
namespace {

struct Commands : testing::Test {
  Ended run(const std::vector<std::string>& arguments) const { return onelaunch(arguments, folder.path().string()); }
  TemporaryFolder folder;
};

TEST_F(Commands, ListsTheTasks) {
  const Ended ended = run({"tasks", "list"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  for (const char* task : {"kimi_linear_decode", "llama_block_decode", "rmsnorm_linear"})
    EXPECT_NE(ended.out.find(task), std::string::npos) << ended.out;
}

TEST_F(Commands, ShowsTheLedgerOfAFullSizeTask) {
  const Ended ended = run({"tasks", "show", "kimi_linear_decode"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  for (const char* megabytes : {"243.", "250.", "259."})
    EXPECT_NE(ended.out.find(megabytes), std::string::npos) << ended.out;
}

TEST_F(Commands, PrintsTheHeaderThatKernelsInclude) {
  const Ended ended = run({"tasks", "show", "rmsnorm_linear", "--header"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.out.find("OL_LAUNCH"), std::string::npos);
}

TEST_F(Commands, DumpsTensorsInAFormatThatOthersRead) {
  const std::string out = (folder.path() / "dump").string();
  const Ended ended =
      run({"tasks", "dump", "rmsnorm_linear", "--variant", "tiny", "--seed", "7", "--steps", "2", "--out", out});
  ASSERT_EQ(ended.code, 0) << ended.out;
  const std::string file = read_file(out + "/steps.safetensors", 1 << 24).value_or("");
  ASSERT_GT(file.size(), 8u);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  const std::string header = file.substr(8, length);
  EXPECT_EQ(length % 8, 0u);
  EXPECT_NE(header.find("\"1.y\":{\"dtype\":\"BF16\",\"shape\":[256]"), std::string::npos) << header;
  EXPECT_EQ(file.size(), 8 + length + 2 * (256 * 2 + 256 * 2)) << "two steps of a token and an output of 256 bf16";
}

TEST_F(Commands, ProfilesAKernelWithoutAGpu) {
  const std::vector<std::string> seed{"profile", "rmsnorm_linear", ONELAUNCH_TASKS_FOLDER "/rmsnorm_linear/seed.cu", "--variant", "tiny", "--device", "emu"};
  const Ended text = run(seed);
  EXPECT_EQ(text.code, 0) << text.out;
  for (const char* words : {"modelled", "norm", "linear", "registers"}) EXPECT_NE(text.out.find(words), std::string::npos) << text.out;
  std::vector<std::string> as_json = seed;
  as_json.push_back("--json");
  EXPECT_NE(run(as_json).out.find("\"critical_us\""), std::string::npos);
  std::vector<std::string> unknown = seed;
  unknown.insert(unknown.end(), {"-D", "NOTHING=1"});
  EXPECT_EQ(run(unknown).code, 3);
}

TEST_F(Commands, TheDoctorFindsWhatSessionsNeed) {
  const Ended ended = run({"doctor"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  for (const char* word : {"NVRTC", "GPU driver", "Landlock", "cores", "memory", "tasks"})
    EXPECT_NE(ended.out.find(word), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace onelaunch::e2e
