#pragma once
// A transcript cut into exchanges: what the model said at once, the calls in it, and what came back.

#include <string>
#include <vector>

#include "traces/foreign/transcript.h"

namespace onelaunch::traces::foreign {

struct CallWithResult {
  const TranscriptStep* call = nullptr;
  const TranscriptStep* result = nullptr;  // null when nothing came back
};
struct Exchange {
  TranscriptStep::Kind kind = TranscriptStep::Kind::assistant;  // or user, notice, error
  std::string text, reasoning;
  std::optional<double> t;
  std::vector<CallWithResult> calls;
  const TranscriptTurn* turn = nullptr;    // null when its tokens are not told
};

// Borrows from the transcript.
std::vector<Exchange> exchanges_of(const Transcript& transcript);

}  // namespace onelaunch::traces::foreign
