// Prints how fast a large trace is read and verified. Usage: traces_bench [MB]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/sha256.h"
#include "tests/traces/sample_events.h"
#include "traces/event_json.h"
#include "traces/fold.h"
#include "traces/reader.h"
#include "traces/verify.h"

using namespace onelaunch;
using namespace onelaunch::traces;

namespace {

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void write_trace(const std::filesystem::path& file, std::size_t bytes) {
  std::ofstream out(file, std::ios::binary);
  const std::vector<Event> events = small_session({}, some_hash('a'), some_hash('b'));
  std::string prev(64, '0');
  std::size_t written = 0;
  for (std::uint64_t seq = 0; written < bytes; ++seq) {
    const std::string line = print_record({.seq = seq, .t = static_cast<double>(seq) * 0.01, .ts = "2026-12-01T05:09:06.123Z",
                                           .prev = prev, .event = events[seq % events.size()]}).value();
    prev = sha256_hex(line);
    out << line << '\n';
    written += line.size() + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t mb = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "onelaunch-traces-bench.jsonl";
  write_trace(file, mb * 1000000);
  const double size = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  std::uint64_t events = 0;
  const double read = seconds_of([&] { events = read_trace(file, [](const Record&) { return true; }).value().events; });
  const double verify = seconds_of([&] { (void)verify_trace(file).value(); });
  std::printf("%.0f MB, %llu events: read %.0f MB/s, verify %.0f MB/s\n", size, static_cast<unsigned long long>(events),
              size / read, size / verify);
  std::filesystem::remove(file);
}
