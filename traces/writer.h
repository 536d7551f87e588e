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

class Writer {
 public:
  // A new run directory (created; must not hold a trace yet).
  static Result<Writer> create(const std::filesystem::path& run, const Clock& clock);
  // Continues an existing trace: drops a torn last line (it is kept as events.torn), keeps seq, chain and active time.
  static Result<Writer> reopen(const std::filesystem::path& run, const Clock& clock);
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  Result<void> append(const Event& event);
  // Stored once by content; returns the SHA-256 that events refer to.
  Result<std::string> store_blob(std::string_view content);
  double active_s() const;   // since the session's start, time between legs left out
  const std::filesystem::path& run() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace onelaunch::traces
