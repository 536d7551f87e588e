#pragma once
// Appends events to a run directory: one line each, synced before append() returns, chained by hash.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "traces/event.h"

namespace onelaunch::traces {

// One process writes to a run directory at a time: a second one is refused (unavailable) while this one lives.
class Writer {
 public:
  // A new run directory (created; must not hold a trace yet).
  static Result<Writer> create(const std::filesystem::path& run, const Clock& clock);
  // Continues an existing trace: drops a torn last line (it is kept as events.torn), keeps seq, chain and active time.
  // Fails (invalid_input) with the line when the chain is broken.
  static Result<Writer> reopen(const std::filesystem::path& run, const Clock& clock);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // On the disk once it returns. Fails with `unavailable` when the disk refuses (full, read-only): the trace is then
  // as before and a later append may succeed. Fails with `internal` on an event that breaks a rule of fields.h.
  Result<void> append(const Event& event);
  // Stored once by content; returns the SHA-256 that events refer to.
  Result<std::string> store_blob(std::string_view content);
  double active_s() const;   // since the session's start, time between legs left out
  std::uint64_t events() const;  // in the trace
  bool dropped_torn_line() const;  // by reopen()
  const std::filesystem::path& run() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace onelaunch::traces
