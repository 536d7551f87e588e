#pragma once
// What stands beside a kept kernel: card.json, derived from the events.

#include <string>

#include "base/result.h"
#include "traces/fold.h"

namespace onelaunch::traces {

// Pretty-printed JSON: task, variant, id, source hash, tunables, verdict, us per context, x over baseline and seed,
// modelled or measured, device, where it came from (run name, seq).
std::string card_json(const SessionState& state, const std::string& candidate, const std::string& run_name);

}  // namespace onelaunch::traces
