#include "tests/traces/run_fixture.h"

#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "tests/traces/schema_check.h"

namespace onelaunch::traces {

namespace fs = std::filesystem;

RunFixture::RunFixture() {
  std::string name = (fs::temp_directory_path() / "onelaunch-traces-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
  folder_ = name;
}

RunFixture::~RunFixture() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void RunFixture::TearDown() {
  if (damages_traces_) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.path().filename() != "events.jsonl") continue;
    for (const std::string& line : lines_of(content_of(entry.path()))) EXPECT_EQ(schema_problem(line), "") << line;
  }
}

fs::path RunFixture::write_run(const std::string& name, const std::vector<Event>& events) {
  const fs::path run = folder_ / name;
  Result<Writer> writer = Writer::create(run, clock_);
  EXPECT_TRUE(writer) << writer.error().message;
  for (const Event& event : events) {
    clock_.at += Seconds(0.5);
    const Result<void> written = writer->append(event);
    EXPECT_TRUE(written) << written.error().message;
  }
  return run;
}

void RunFixture::append_to(const fs::path& run, const std::vector<Event>& events) {
  Result<Writer> writer = Writer::reopen(run, clock_);
  ASSERT_TRUE(writer) << writer.error().message;
  for (const Event& event : events) {
    const Result<void> written = writer->append(event);
    ASSERT_TRUE(written) << written.error().message;
  }
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void put(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Record> records_of(const fs::path& run) {
  std::vector<Record> records;
  const Result<ReadSummary> summary = read_trace(run, [&](const Record& record) {
    records.push_back(record);
    return true;
  });
  EXPECT_TRUE(summary) << summary.error().message;
  return records;
}

}  // namespace onelaunch::traces
