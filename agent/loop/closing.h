#pragma once
// The end of a session: the best kernel graded once more on fresh weights, published, and bundled with its record.

#include <filesystem>
#include <string>

#include "agent/loop/judge.h"
#include "agent/loop/opening.h"
#include "agent/loop/workplace.h"

namespace onelaunch::agent {

// Replaces best/ and puts the checkpoint on record.
Result<void> save_best(Workplace& place, const Standing& best);

enum class Regraded { passed, failed, skipped };
// In fresh workers with new weights, until the cap. Rewrites best/card.json.
Regraded regrade_best(Workplace& place, const Standing& best);

// bundle.json beside the trace: what the session was, what came out, and the hash of every file of it.
Result<void> write_bundle(const Recorder& recorder);

}  // namespace onelaunch::agent
