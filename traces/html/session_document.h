#pragma once
// What a session's page shows, as one JSON document (onelaunch.report/1).

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace onelaunch::traces {

// A page stays quick to open: beyond this, passed gates and single samples are left out first, then the oldest.
inline constexpr std::size_t kEventsShownMax = 20000;

struct SessionDocument {
  std::string title;                          // "TASK, AGENT"
  std::string json;
  std::map<std::string, std::string> sources; // SHA-256 -> text of every candidate's source that is there
};

// `run` is a run directory or an events.jsonl. Fails (invalid_input) when it cannot be read or holds no session.
Result<SessionDocument> session_document(const std::filesystem::path& run, std::size_t events_max = kEventsShownMax);

}  // namespace onelaunch::traces
