#pragma once
// The table of mutants in tests/hostile/mutants.json: the seed of a task with one sin each, and what rejects it; and
// honest variants of the same seed, which must pass.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::sandbox {

// What rejects a mutant. Empty fields: any.
struct Rejection {
  std::string outcome;                 // "wrong_answer", "faulted", "refused", "compile_failed", "timed_out"
  std::string test, tensor;            // of a wrong answer
  std::string word;                    // a fault's kind, a refusal's rule, or part of what is said
};

struct Mutant {
  std::string name, note;              // where such a thing was seen, or why an honest variant differs
  std::vector<std::pair<std::string, std::string>> replace;
  TunableValues tunables;
  Rejection rejected;                  // of mutants without `open`
  std::string open;                    // why it passes today; empty: it is rejected
};

struct MutantTable {
  std::string task, variant;
  std::vector<Mutant> mutants, honest;
};

Result<MutantTable> read_mutants(const std::filesystem::path& file);

// Fails (invalid) when a text to be replaced does not occur exactly once.
Result<std::string> apply(const Mutant& mutant, std::string source);

struct Verdict {
  Outcome outcome;
  Grade grade;
  // The largest error of the step that was judged last, over its tolerance; infinite where nothing is tolerated.
  double error_over_tolerance = 0;
};

struct JudgeOptions {
  std::filesystem::path worker;
  std::vector<std::uint64_t> seeds;    // each mutant is graded with each
  int threads = 2;                     // mutants judged at a time
};

// For each mutant a verdict for each seed. All contexts are checked. An Error is one of ours, a table that no longer fits the
// seed among them.
std::vector<Result<std::vector<Verdict>>> judge_all(const MutantTable& table, const std::vector<Mutant>& mutants,
                                                    const JudgeOptions& options);

// Empty when the verdict is the rejection that the table names; else what differs.
std::string difference(const Rejection& expected, const Verdict& verdict);

// Error over tolerance; infinite where none is tolerated and it failed.
double share_of(const GateResult& gate);

// "rel_l2 of kda.1.S", "data_race", "mutable_global"
std::string reason(const Verdict& verdict);

}  // namespace onelaunch::sandbox
