#pragma once
// A folder for runs that is gone after the test. Whatever valid traces a test leaves there must satisfy the schema.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "traces/event.h"
#include "traces/reader.h"
#include "traces/writer.h"

namespace onelaunch::traces {

class ManualClock final : public Clock {
 public:
  Seconds now() const override { return at; }
  std::string utc_now() const override { return "2026-12-01T05:09:06.123Z"; }
  Seconds at{1000};
};

class RunFixture : public testing::Test {
 protected:
  RunFixture();
  ~RunFixture() override;
  void TearDown() override;

  // A run directory holding these events, half a second apart.
  std::filesystem::path write_run(const std::string& name, const std::vector<Event>& events);
  // One more event of a leg that goes on with a run.
  void append_to(const std::filesystem::path& run, const std::vector<Event>& events);

  std::filesystem::path folder_;
  ManualClock clock_;
  bool damages_traces_ = false;  // set by tests that leave broken lines behind
};

std::string content_of(const std::filesystem::path& file);
void put(const std::filesystem::path& file, const std::string& content);
std::vector<std::string> lines_of(const std::string& text);
std::string joined(const std::vector<std::string>& lines);
std::vector<Record> records_of(const std::filesystem::path& run);

}  // namespace onelaunch::traces
