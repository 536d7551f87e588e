#pragma once
// Several kernels of one task, each graded fully and, on a GPU, timed in pairs with the first that passes.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::cli {

struct KernelVariant {
  std::string name;                    // of its file, with the tunables that were asked for
  std::string source;
  sandbox::TunableValues tunables;     // those asked for
};

// How many times as fast as the first kernel: above 1 is faster. The geometric mean over the contexts.
struct SpeedOverFirst {
  double ratio = 1, low = 1, high = 1;  // low, high: the 95 % interval from paired log ratios of one worker
  bool interval = false;                // modelled times have none
  int pairs = 0;
};

struct ComparedKernel {
  std::string name;
  sandbox::TunableValues tunables;     // all of them, where it compiled
  sandbox::Outcome outcome;
  std::string quarantine;              // right, but too fast to be true: why
  std::vector<sandbox::Measurement> times;
  std::optional<double> us;            // geometric mean over the contexts
  bool first = false;                  // the one that the others are compared with
  std::optional<SpeedOverFirst> over_first;
  std::string no_ratio;                // why there is none although both passed

  bool passed() const { return std::holds_alternative<sandbox::Passed>(outcome) && quarantine.empty(); }
};

struct ComparisonOptions {
  std::uint64_t seed = 1;              // of states and tokens, the same for all kernels
  double pair_s = 1;                   // chains of one kernel and the first in turns
  double compile_s = 60, grade_s = 3600;  // limits of one kernel
};

// {"A=1,2", "B=x"} gives {A=1, B=x}, {A=2, B=x}; of nothing one that names nothing. Fails (invalid_input) on what is not
// NAME=VALUE,..., on a name or value that comes twice and on more than kCombinationsMax.
constexpr std::size_t kCombinationsMax = 256;
Result<std::vector<sandbox::TunableValues>> tunable_combinations(const std::vector<std::string>& defines);

// In order. `say` hears what is done next. Fails for our own reasons only.
Result<std::vector<ComparedKernel>> compare_kernels(sandbox::Sandbox& sandbox, const std::vector<KernelVariant>& variants,
                                                    const ComparisonOptions& options, const Clock& clock,
                                                    const std::function<void(const std::string&)>& say);

// A table; then the reasons of what was rejected.
std::string comparison_text(const std::vector<ComparedKernel>& kernels);
// An array, one object a kernel.
std::string comparison_json(const std::vector<ComparedKernel>& kernels);

}  // namespace onelaunch::cli
