// Writes runs and their site for the browser test: write_site FOLDER. Among them a session of 10,000 events, and texts
// that would break out of a page that did not escape them.
#include <cstdio>
#include <filesystem>

#include "tests/traces/sample_events.h"
#include "traces/blobs.h"
#include "traces/html/site.h"
#include "traces/writer.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;

class SteadyClock final : public Clock {
 public:
  Seconds now() const override { return at; }
  std::string utc_now() const override { return "2026-12-01T05:09:06.123Z"; }
  Seconds at{1000};
};

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

fs::path write_run(const fs::path& run, const std::vector<Event>& events) {
  SteadyClock clock;
  Writer writer = must(Writer::create(run, clock));
  for (const Event& event : events) {
    clock.at += Seconds(0.5);
    if (const auto written = writer.append(event); !written) std::exit(1);
  }
  return run;
}

void small_run(const fs::path& run, const SessionShape& shape) {
  fs::create_directories(run);
  const std::string seed = must(store_blob(run, "__global__ void a() {\n  int x = 1;  /* over\n  two lines */\n}\n"));
  const std::string other = must(store_blob(run, "__global__ void a() {\n  int x = 2;  /* over\n  two lines */\n  // </script><b>\n}\n"));
  std::vector<Event> events = small_session(shape, seed, other);
  const Note hostile{.author = "agent", .text = "</script><script>document.title='broken out'</script><!-- <img src=x onerror=alert(1)>"};
  events.insert(events.end() - 1, Event(hostile));
  events.insert(events.end() - 1, Event(ModelResponse{.provider = "p", .model = "m", .stop_reason = "end_turn", .turn = 1,
                                                      .input_tokens = 1000, .output_tokens = 200, .cost_usd = 0.25, .seconds = 2}));
  write_run(run, events);
}

// 10,000 events: 1,250 candidates of 8 events each.
void long_run(const fs::path& run) {
  fs::create_directories(run);
  const std::string source = must(store_blob(run, "int main() {}\n"));
  std::vector<Event> events = small_session({.agent = "long"}, source, source);
  const Event end = events.back();
  events.pop_back();
  for (int i = 4; events.size() < 9999; ++i) {
    const std::string id = "c" + std::to_string(i);
    events.push_back(Candidate{.id = id, .parent = "c2", .source_sha256 = source, .tunables = {{"BLOCK", std::to_string(i)}},
                               .note = "attempt " + std::to_string(i)});
    events.push_back(Compile{.candidate = id, .ok = true, .seconds = 0.5, .registers = 64});
    for (int k = 0; k < 3; ++k) events.push_back(Gate{.candidate = id, .stage = "correctness", .verdict = "pass", .test = "t"});
    for (const std::int64_t context : {32, 96})
      events.push_back(Measurement{.candidate = id, .kind = "modelled", .context = context, .us_median = 90.0 + i % 40, .n = 1});
    events.push_back(Decision{.candidate = id, .verdict = "revert", .outcome = "passed", .us = 90.0 + i % 40, .ratio = 0.9,
                              .incumbent = "c2", .reason = "slower"});
  }
  events.resize(9999);
  events.push_back(end);
  write_run(run, events);
}

int write_all(const fs::path& folder) {
  fs::remove_all(folder);
  const fs::path runs = folder / "runs";
  small_run(runs / "one", {.agent = "alpha", .best_us = 90});
  small_run(runs / "two", {.agent = "beta", .best_us = 70});
  small_run(runs / "three", {.agent = "gamma", .best_us = 80});
  small_run(runs / "card", {.agent = "delta", .device = "NVIDIA H200", .kind = "measured", .best_us = 50});
  small_run(runs / "cut", {.agent = "epsilon", .best_us = 60, .finished = false, .regraded = false});
  long_run(runs / "long");
  const Board board = must(make_board({runs}));
  if (const auto written = write_board_site(board, folder / "site"); !written) return 1;
  return write_session_site(runs / "one", folder / "single") ? 0 : 1;
}

}  // namespace
}  // namespace onelaunch::traces

int main(int argc, char** argv) { return argc == 2 ? onelaunch::traces::write_all(argv[1]) : 2; }
