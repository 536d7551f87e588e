#include "traces/verify.h"

#include "base/sha256.h"
#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/blobs.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;

class VerifyTest : public RunFixture {
 protected:
  // A finished session whose blobs exist.
  fs::path session() {
    seed_ = store_blob(folder_ / "run", "seed source").value();
    other_ = store_blob(folder_ / "run", "other source").value();
    const fs::path run = write_run("run", small_session({}, seed_, other_));
    lines_ = lines_of(content_of(run / "events.jsonl"));
    return run;
  }
  VerifyReport after_changing(std::size_t index, const std::string& from, const std::string& to) {
    damages_traces_ = true;
    std::vector<std::string> lines = lines_;
    const std::size_t at = lines[index].find(from);
    EXPECT_NE(at, std::string::npos) << lines[index];
    lines[index].replace(at, from.size(), to);
    put(folder_ / "run/events.jsonl", joined(lines));
    return verify_trace(folder_ / "run").value();
  }
  std::string seed_, other_;
  std::vector<std::string> lines_;
};

TEST_F(VerifyTest, AcceptsWhatTheWriterWrote) {
  const fs::path run = session();
  const VerifyReport report = verify_trace(run).value();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_EQ(report.events, lines_.size());
  EXPECT_EQ(report.blobs, 2u);
  EXPECT_EQ(report.head, sha256_hex(lines_.back()));
  EXPECT_NE(describe(report).find("ok: "), std::string::npos);
  EXPECT_NE(describe(report).find(report.head), std::string::npos);
}

TEST_F(VerifyTest, NamesATamperedLine) {
  session();
  for (std::size_t i = 0; i + 1 < lines_.size(); ++i) {
    const VerifyReport report = after_changing(i, "T05:09:06.123Z", "T05:09:06.124Z");
    ASSERT_FALSE(report.ok()) << i;
    EXPECT_EQ(report.defects.front().line, i + 1) << describe(report);
    EXPECT_EQ(report.defects.size(), 1u) << describe(report);
    EXPECT_NE(describe(report).find("first at line " + std::to_string(i + 1)), std::string::npos);
  }
}

TEST_F(VerifyTest, NamesABrokenLink) {
  session();
  const VerifyReport report = after_changing(4, sha256_hex(lines_[3]), some_hash('7'));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.defects.front().line, 5u) << describe(report);
}

TEST_F(VerifyTest, NamesTheLineBeforeWhichOneIsMissing) {
  session();
  damages_traces_ = true;
  std::vector<std::string> lines = lines_;
  lines.erase(lines.begin() + 6);
  put(folder_ / "run/events.jsonl", joined(lines));
  const VerifyReport report = verify_trace(folder_ / "run").value();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.defects.front().line, 7u);
  EXPECT_NE(report.defects.front().reason.find("missing"), std::string::npos) << describe(report);
}

TEST_F(VerifyTest, NamesALineThatBreaksTheSchema) {
  session();
  const VerifyReport report = after_changing(2, "\"stream_tb_s\":4.7", "\"stream_tb_s\":\"fast\"");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.defects.front().line, 3u);
  EXPECT_EQ(report.defects.front().reason, "ceilings: stream_tb_s is not a number");
}

TEST_F(VerifyTest, NamesTheFirstLineThatRefersToADamagedBlob) {
  const fs::path run = session();
  put(run / "blobs" / other_, "something else");
  VerifyReport report = verify_trace(run).value();
  ASSERT_EQ(report.defects.size(), 1u) << describe(report);
  EXPECT_NE(lines_[report.defects[0].line - 1].find("\"id\":\"c2\""), std::string::npos);
  EXPECT_NE(report.defects[0].reason.find("was changed"), std::string::npos);
  fs::remove(run / "blobs" / other_);
  report = verify_trace(run).value();
  ASSERT_EQ(report.defects.size(), 1u);
  EXPECT_NE(report.defects[0].reason.find("cannot open"), std::string::npos);
}

TEST_F(VerifyTest, ChecksALoneFileWithoutItsBlobs) {
  const fs::path run = session();
  fs::copy_file(run / "events.jsonl", folder_ / "alone.jsonl");
  const VerifyReport report = verify_trace(folder_ / "alone.jsonl").value();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_FALSE(report.blobs_checked);
  EXPECT_NE(describe(report).find("blobs not checked"), std::string::npos);
}

TEST_F(VerifyTest, SaysThatTheLastLineIsTornAndStillAcceptsTheRest) {
  const fs::path run = session();
  put(run / "events.jsonl", joined(lines_) + "{\"v\":1,\"seq\"");
  damages_traces_ = true;
  const VerifyReport report = verify_trace(run).value();
  EXPECT_TRUE(report.ok()) << describe(report);
  EXPECT_TRUE(report.torn_last_line);
  EXPECT_NE(describe(report).find("torn"), std::string::npos);
}

TEST_F(VerifyTest, WantsSessionStartFirst) {
  const fs::path run = write_run("run", {Note{.author = "", .text = "x"}});
  const VerifyReport report = verify_trace(run).value();
  ASSERT_EQ(report.defects.size(), 1u);
  EXPECT_EQ(report.defects[0].line, 1u);
}

TEST_F(VerifyTest, FailsOnlyWhenThereIsNothingToRead) { EXPECT_FALSE(verify_trace(folder_ / "none")); }

}  // namespace
}  // namespace onelaunch::traces
