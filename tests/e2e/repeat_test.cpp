// Recorded sessions done again: replay --regrade, replay --redrive, leaderboard --check.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"
#include "tests/e2e/program.h"

namespace onelaunch::e2e {
namespace {

namespace fs = std::filesystem;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// One recorded session for all tests here.
struct Repeat : testing::Test {
  static void SetUpTestSuite() {
    folder = new TemporaryFolder();
    const Ended ended = onelaunch({"run", "rmsnorm_linear", "--variant", "tiny", "--device", "emu", "--wall", "12s", "--out", path("run"),
                                   "--publish", path("published")}, folder->path().string());
    ASSERT_EQ(ended.code, 0) << ended.out;
  }
  static void TearDownTestSuite() { delete folder; }
  static std::string path(const std::string& name) { return (folder->path() / name).string(); }
  static Ended run(const std::vector<std::string>& arguments) { return onelaunch(arguments, folder->path().string()); }
  static std::string events(const std::string& name) { return read_file(path(name + "/events.jsonl"), 64u << 20).value_or(""); }
  static TemporaryFolder* folder;
};
TemporaryFolder* Repeat::folder = nullptr;

TEST_F(Repeat, ARegradeShowsRecordedBesideHereAndOnlyReadsTheRun) {
  const std::string before = events("run");
  const Ended ended = run({"replay", path("run"), "--regrade"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("recorded us"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("1.000  passed"), std::string::npos) << "modelled times are deterministic\n" << ended.out;
  EXPECT_EQ(events("run"), before);
  const Ended json = run({"replay", path("run"), "--regrade", "--json"});
  EXPECT_NE(json.out.find("\"format\": \"onelaunch.regrade/1\""), std::string::npos) << json.out;
  EXPECT_EQ(count(json.out, "\"candidate\": "), count(before, "\"verdict\":\"keep\"")) << json.out;
}

TEST_F(Repeat, ARedriveOfASessionOnTheEmulatorDecidesTheSame) {
  const Ended ended = run({"replay", path("run"), "--redrive", "--out", path("again")});
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("none differs"), std::string::npos) << ended.out;
  EXPECT_EQ(run({"trace", "verify", path("again")}).code, 0);
  const Ended json = run({"replay", path("run"), "--redrive", "--json"});
  EXPECT_NE(json.out.find("\"differing\": 0"), std::string::npos) << json.out;
}

TEST_F(Repeat, ACheckMarksTheFirstEntry) {
  const Ended ended = run({"leaderboard", path("run"), "--check"});
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("confirmed"), std::string::npos) << ended.out;
  EXPECT_EQ(run({"leaderboard", path("run")}).out.find("confirmed"), std::string::npos);
}

TEST_F(Repeat, AKernelThatIsMissingIsSaidOnTheBoard) {
  fs::copy(path("run"), path("damaged"), fs::copy_options::recursive);
  fs::remove_all(path("damaged/blobs"));
  const Ended board = run({"leaderboard", path("damaged"), "--check", "2"});
  EXPECT_EQ(board.code, 3) << board.out;
  EXPECT_NE(board.out.find("not possible"), std::string::npos) << board.out;
  for (const char* flag : {"--regrade", "--redrive"}) EXPECT_EQ(run({"replay", path("damaged"), flag}).code, 2);
}

TEST_F(Repeat, BadInputIsAnsweredWithWhatToDo) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_NE(ended.out.find(words), std::string::npos) << ended.out;
  };
  refused({"replay", path("missing"), "--regrade"}, "missing");
  refused({"replay", path("run"), "--regrade", "--redrive"}, "--re");
  refused({"replay", path("run"), "--regrade", "--device", "gpu7"}, "unknown device");
  refused({"replay", path("run"), "--redrive", "--device", "gpu7"}, "unknown device");
  refused({"leaderboard", path("run"), "--check", "0"}, "--check");
  std::ofstream(path("foreign.jsonl")) << R"({"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]})" << "\n"
                                       << R"({"type":"result","subtype":"success","session_id":"s","total_cost_usd":0.1})" << "\n";
  refused({"replay", path("foreign.jsonl"), "--regrade"}, "another program's transcript");
  const Ended board = run({"leaderboard", path("run"), path("foreign.jsonl")});
  EXPECT_EQ(board.code, 0) << board.out;
  EXPECT_NE(board.out.find("unchecked"), std::string::npos) << "a foreign session stands on the board, unranked\n" << board.out;
  const Ended page = run({"replay", path("foreign.jsonl"), "--html", path("page")});
  EXPECT_EQ(page.code, 0) << page.out;
  EXPECT_NE(read_file(path("page/index.html"), 1u << 20).value_or("").find("nothing in it was checked"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::e2e
