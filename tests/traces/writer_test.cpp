#include "traces/writer.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/sha256.h"
#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/verify.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;

class WriterTest : public RunFixture {};
const Event kNote = Note{.author = "test", .text = "x"};

SessionStart start() {
  return {.harness_version = "0.1.0", .task = "rmsnorm_linear", .variant = "", .task_sha256 = "", .agent = "tuner",
          .device = "emu", .target = "sm_90a", .wall_s = 60, .containment = "", .rules = ""};
}

TEST_F(WriterTest, NumbersStampsAndChainsLines) {
  const fs::path run = write_run("a", {start(), kNote, kNote});
  const std::vector<std::string> lines = lines_of(content_of(run / "events.jsonl"));
  const std::vector<Record> records = records_of(run);
  ASSERT_EQ(records.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(records[i].seq, i);
    EXPECT_EQ(records[i].t, 0.5 * static_cast<double>(i + 1));
    EXPECT_EQ(records[i].ts, clock_.utc_now());
    EXPECT_EQ(records[i].prev, i == 0 ? std::string(64, '0') : sha256_hex(lines[i - 1]));
  }
}

TEST_F(WriterTest, RefusesToCreateOverATrace) {
  const fs::path run = write_run("a", {start()});
  const Result<Writer> second = Writer::create(run, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(second.error().message.find("holds a trace already"), std::string::npos);
}

TEST_F(WriterTest, RefusesASecondWriterWhileTheFirstLives) {
  std::optional<Result<Writer>> first(Writer::create(folder_ / "a", clock_));
  ASSERT_TRUE((*first)->append(start()));
  const Result<Writer> second = Writer::reopen(folder_ / "a", clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::unavailable);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid()) + " is writing to"), std::string::npos)
      << second.error().message;
  first.reset();
  EXPECT_TRUE(Writer::reopen(folder_ / "a", clock_));
}

TEST_F(WriterTest, RefusesToReopenWhereThereIsNoTrace) {
  const Result<Writer> writer = Writer::reopen(folder_ / "none", clock_);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, Error::Kind::invalid_input);
  EXPECT_FALSE(fs::exists(folder_ / "none"));
}

TEST_F(WriterTest, GoesOnWithNumberingChainAndActiveTime) {
  const fs::path run = write_run("a", {start(), kNote});
  clock_.at += Seconds(5000);  // between the legs
  Result<Writer> writer = Writer::reopen(run, clock_);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_EQ(writer->active_s(), 1.0);
  EXPECT_EQ(writer->events(), 2u);
  EXPECT_FALSE(writer->dropped_torn_line());
  clock_.at += Seconds(0.25);
  ASSERT_TRUE(writer->append(kNote));
  EXPECT_EQ(records_of(run).back().t, 1.25);
  EXPECT_TRUE(verify_trace(run)->ok());
}

TEST_F(WriterTest, GoesOnAfterACutAtEveryByte) {
  const fs::path whole = write_run("whole", {start(), kNote, Wait{.what = "lock", .seconds = 1}});
  const std::string text = content_of(whole / "events.jsonl");
  const std::vector<std::string> lines = lines_of(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const fs::path run = folder_ / ("cut" + std::to_string(cut));
    fs::create_directory(run);
    put(run / "events.jsonl", text.substr(0, cut));
    const auto whole_lines = static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    const bool torn = cut > 0 && text[cut - 1] != '\n';

    std::size_t seen = 0;
    const Result<ReadSummary> summary = read_trace(run, [&](const Record& r) { return r.seq == seen++; });
    ASSERT_TRUE(summary) << cut << ": " << summary.error().message;
    ASSERT_EQ(summary->events, whole_lines) << cut;
    ASSERT_EQ(summary->torn_last_line, torn) << cut;
    ASSERT_EQ(summary->last_hash, whole_lines == 0 ? std::string(64, '0') : sha256_hex(lines[whole_lines - 1]));

    {
      Result<Writer> writer = Writer::reopen(run, clock_);
      ASSERT_TRUE(writer) << cut << ": " << writer.error().message;
      ASSERT_EQ(writer->dropped_torn_line(), torn);
      ASSERT_TRUE(writer->append(whole_lines == 0 ? Event(start()) : kNote));
    }
    const Result<VerifyReport> report = verify_trace(run);
    ASSERT_TRUE(report->ok()) << cut << ": " << describe(*report);
    ASSERT_EQ(report->events, whole_lines + 1);
    ASSERT_FALSE(report->torn_last_line);
    ASSERT_EQ(fs::exists(run / "events.torn"), torn);
    if (torn) {
      ASSERT_EQ(content_of(run / "events.torn"), text.substr(summary->whole_bytes, cut - summary->whole_bytes) + "\n");
    }
    fs::remove_all(run);
  }
}

TEST_F(WriterTest, RefusesToGoOnWithABrokenChain) {
  damages_traces_ = true;
  const fs::path run = write_run("a", {start(), kNote, kNote});
  std::vector<std::string> lines = lines_of(content_of(run / "events.jsonl"));
  lines[1].replace(lines[1].find("\"x\""), 3, "\"y\"");
  put(run / "events.jsonl", joined(lines));
  const Result<Writer> writer = Writer::reopen(run, clock_);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(writer.error().message.find("line 2 was changed"), std::string::npos) << writer.error().message;
}

TEST_F(WriterTest, LeavesTheTraceWholeWhenAnEventIsRefused) {
  const fs::path run = write_run("a", {start()});
  Result<Writer> writer = Writer::reopen(run, clock_);
  EXPECT_FALSE(writer->append(Checkpoint{.candidate = "c0", .source_sha256 = "no hash", .cubin_sha256 = ""}));
  ASSERT_TRUE(writer->append(kNote));
  EXPECT_TRUE(verify_trace(run)->ok());
}

TEST_F(WriterTest, NeverLetsTimeGoBack) {
  Result<Writer> writer = Writer::create(folder_ / "a", clock_);
  clock_.at += Seconds(10);
  ASSERT_TRUE(writer->append(start()));
  clock_.at -= Seconds(5);
  ASSERT_TRUE(writer->append(kNote));
  EXPECT_EQ(records_of(folder_ / "a").back().t, 10);
}

// A limit on the size of files makes writes fall short and fail as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit tight{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &tight);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(WriterTest, SaysThatTheDiskIsFullAndGoesOnOnceItIsNot) {
  Result<Writer> writer = Writer::create(folder_ / "a", clock_);
  ASSERT_TRUE(writer->append(start()));
  const std::uintmax_t size = fs::file_size(folder_ / "a/events.jsonl");
  {
    const FullDisk full(size + 20);
    const Result<void> refused = writer->append(kNote);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::unavailable);
    EXPECT_NE(refused.error().message.find("events.jsonl"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(fs::file_size(folder_ / "a/events.jsonl"), size) << "the part that was written is cut off";
  ASSERT_TRUE(writer->append(kNote));
  const Result<VerifyReport> report = verify_trace(folder_ / "a");
  EXPECT_TRUE(report->ok()) << describe(*report);
  EXPECT_EQ(report->events, 2u);
}

// Permissions do not bind root, so that root tests as somebody else.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() {
    if (::geteuid() == 0) switched_ = ::seteuid(65534) == 0;
  }
  ~AsOrdinaryUser() {
    if (switched_ && ::seteuid(0) != 0) ADD_FAILURE() << "still an ordinary user";
  }

 private:
  bool switched_ = false;
};

TEST_F(WriterTest, SaysThatAFolderIsReadOnly) {
  fs::create_directory(folder_ / "locked");
  ::chmod(folder_.c_str(), 0755);
  ::chmod((folder_ / "locked").c_str(), 0555);
  {
    const AsOrdinaryUser user;
    for (const char* name : {"locked", "locked/new"}) {
      const Result<Writer> writer = Writer::create(folder_ / name, clock_);
      ASSERT_FALSE(writer) << name;
      EXPECT_EQ(writer.error().kind, Error::Kind::unavailable);
      EXPECT_NE(writer.error().message.find((folder_ / name).string()), std::string::npos) << writer.error().message;
      EXPECT_NE(writer.error().message.find("Permission denied"), std::string::npos) << writer.error().message;
    }
  }
  ::chmod((folder_ / "locked").c_str(), 0755);
}

TEST_F(WriterTest, SaysThatAFileStandsWhereTheFolderShouldBe) {
  put(folder_ / "file", "x");
  const Result<Writer> writer = Writer::create(folder_ / "file", clock_);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, Error::Kind::unavailable);
}

TEST_F(WriterTest, StoresABlobOnceByItsContent) {
  Result<Writer> writer = Writer::create(folder_ / "a", clock_);
  const std::string content("int main() {}\n\0\xff", 16);
  const Result<std::string> name = writer->store_blob(content);
  ASSERT_TRUE(name) << name.error().message;
  EXPECT_EQ(*name, sha256_hex(content));
  const fs::path file = folder_ / "a/blobs" / *name;
  EXPECT_EQ(content_of(file), content);
  struct stat before {}, after {};
  ::stat(file.c_str(), &before);
  EXPECT_EQ(writer->store_blob(content).value(), *name);
  ::stat(file.c_str(), &after);
  EXPECT_EQ(before.st_ino, after.st_ino) << "not written again";
  EXPECT_EQ(read_blob(folder_ / "a", *name).value(), content);
  EXPECT_TRUE(writer->store_blob("")) << "an empty blob is a blob";
}

TEST_F(WriterTest, HealsABlobThatWasDamaged) {
  Result<Writer> writer = Writer::create(folder_ / "a", clock_);
  const std::string name = writer->store_blob("content").value();
  put(folder_ / "a/blobs" / name, "damaged");
  EXPECT_FALSE(read_blob(folder_ / "a", name));
  ASSERT_TRUE(writer->store_blob("content"));
  EXPECT_EQ(read_blob(folder_ / "a", name).value(), "content");
}

}  // namespace
}  // namespace onelaunch::traces
