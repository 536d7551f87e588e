#pragma once
// From findings of a comparison to the gates of a grade: all failures, or the closest passes.

#include <map>
#include <string>
#include <vector>

#include "sandbox/host/sandbox.h"
#include "tasks/compare.h"

namespace onelaunch::sandbox {

struct GatePlace {
  std::int64_t context = 0;
  int step = 0;
  std::uint64_t seed = 0;
  bool strict = false;
};

class GateReport {
 public:
  // True when all passed.
  bool add(const std::vector<tasks::Finding>& findings, const GatePlace& place);
  // The failures; without any, for each test the pass that came closest to failing.
  std::vector<GateResult> gates() const;
  // "hidden_out: rel_l2 is 0.5, at most 0.02 is allowed ... (context 32, step 1, strict inputs)"
  std::string first_failure() const;

 private:
  std::vector<GateResult> failures_;
  std::string first_failure_;
  std::map<std::string, std::pair<double, GateResult>> closest_;  // by test
};

}  // namespace onelaunch::sandbox
