#include "traces/reader.h"

#include <sys/stat.h>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"

namespace onelaunch::traces {
namespace {

class ReaderTest : public RunFixture {
 protected:
  std::string why_not(const std::filesystem::path& path) {
    const Result<ReadSummary> summary = read_trace(path, [](const Record&) { return true; });
    return summary ? "read" : summary.error().message;
  }
};

TEST_F(ReaderTest, ReadsARunDirectoryOrTheFile) {
  const auto run = write_run("a", full_events(some_hash('d')));
  EXPECT_EQ(records_of(run).size(), std::variant_size_v<Event>);
  EXPECT_EQ(records_of(run / "events.jsonl").size(), std::variant_size_v<Event>);
}

TEST_F(ReaderTest, StopsWhenTheVisitorHasEnough) {
  const auto run = write_run("a", full_events(some_hash('d')));
  int seen = 0;
  ASSERT_TRUE(read_trace(run, [&](const Record&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3);
}

TEST_F(ReaderTest, NamesTheLineThatIsBadAndWhy) {
  damages_traces_ = true;
  const auto run = write_run("a", full_events(some_hash('d')));
  std::vector<std::string> lines = lines_of(content_of(run / "events.jsonl"));
  lines[6] = "{\"v\":1,";
  put(run / "events.jsonl", joined(lines));
  EXPECT_NE(why_not(run).find("events.jsonl: line 7: not JSON"), std::string::npos) << why_not(run);
  lines[6] = "";
  put(run / "events.jsonl", joined(lines));
  EXPECT_NE(why_not(run).find("line 7: not JSON"), std::string::npos) << why_not(run);
}

TEST_F(ReaderTest, ReportsUnknownTypesAndReadsOn) {
  damages_traces_ = true;
  const auto run = write_run("a", {Note{.author = "", .text = "one"}, Note{.author = "", .text = "two"}});
  std::string text = content_of(run / "events.jsonl");
  text.replace(text.find("\"note\""), 6, "\"hologram\"");
  put(run / "events.jsonl", text);
  std::vector<std::string> seen;
  const auto summary = read_trace(run, [&](const Record& r) {
    seen.push_back(std::get<Note>(r.event).text);
    return true;
  });
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(seen, std::vector<std::string>{"two"});
  EXPECT_EQ(summary->events, 2u);
  EXPECT_EQ(summary->unknown, std::vector<std::string>{"line 1: unknown event type `hologram`"});
}

TEST_F(ReaderTest, ReadsLinesLongerThanItsBuffer) {
  const std::string log(3'000'000, 'x');
  const auto run = write_run("a", {Note{.author = "", .text = "short"},
                                   Compile{.candidate = "c", .ok = false, .log = log, .ptx_sha256 = "", .cubin_sha256 = ""},
                                   Note{.author = "", .text = "short again"}});
  const std::vector<Record> records = records_of(run);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(std::get<Compile>(records[1].event).log, log);
  EXPECT_EQ(std::get<Note>(records[2].event).text, "short again");
}

TEST_F(ReaderTest, RefusesALineWithoutEndInBoundedMemory) {
  damages_traces_ = true;
  std::filesystem::create_directory(folder_ / "a");
  put(folder_ / "a/events.jsonl", "");
  std::filesystem::resize_file(folder_ / "a/events.jsonl", 1ull << 36);  // 64 GiB of zeros, none of them on the disk
  EXPECT_NE(why_not(folder_ / "a").find("line 1: longer than"), std::string::npos) << why_not(folder_ / "a");
}

TEST_F(ReaderTest, TakesAnEmptyFileForAnEmptyTrace) {
  put(folder_ / "events.jsonl", "");
  const auto summary = read_trace(folder_, [](const Record&) { return true; });
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->events, 0u);
  EXPECT_FALSE(summary->torn_last_line);
}

TEST_F(ReaderTest, SaysWhatItCannotOpen) {
  EXPECT_NE(why_not(folder_ / "none").find("cannot open"), std::string::npos);
  EXPECT_NE(why_not(folder_).find("cannot open"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ / "events.jsonl").c_str(), 0600), 0);
  EXPECT_NE(why_not(folder_).find("is not a file"), std::string::npos) << "and does not wait for a writer";
  std::filesystem::remove(folder_ / "events.jsonl");
}

TEST_F(ReaderTest, RefusesABlobNameThatIsNoHash) {
  for (const std::string name : {"", "../events.jsonl", "ABCD", "/etc/passwd"}) {
    const Result<std::string> blob = read_blob(folder_, name);
    ASSERT_FALSE(blob) << name;
    EXPECT_NE(blob.error().message.find("not a SHA-256"), std::string::npos);
  }
  EXPECT_NE(read_blob(folder_, some_hash('a')).error().message.find("cannot open"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::traces
