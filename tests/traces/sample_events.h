#pragma once
// Events for tests: one of every type with every field set, and a small session that could have happened.

#include <string>
#include <vector>

#include "traces/event.h"

namespace onelaunch::traces {

std::string some_hash(char digit);  // 64 times the digit

// One of each alternative of Event, in order; no field has its default. `blob` is used wherever a blob is named.
std::vector<Event> full_events(const std::string& blob);

struct SessionShape {
  std::string agent = "tuner", task = "rmsnorm_linear", variant = "tiny", device = "emu H200", kind = "modelled";
  std::string containment = "landlock";
  double seed_us = 100, best_us = 80, baseline_us = 800;
  bool finished = true, regraded = true;
};
// Seed c0, c1 wrong, c2 kept, c3 reverted; then re-grade and end. Sources: `seed_blob` and `other_blob` (c2, c3).
std::vector<Event> small_session(const SessionShape& shape, const std::string& seed_blob, const std::string& other_blob);

}  // namespace onelaunch::traces
