#include "tests/sandbox/host/hostile_mutants.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

Mutant mutant_of(const nlohmann::json& json) {
  Mutant mutant;
  mutant.name = json.at("name");
  mutant.note = json.contains("seen") ? json.at("seen") : json.at("why");
  for (const auto& pair : json.at("replace")) mutant.replace.emplace_back(pair.at(0), pair.at(1));
  if (json.contains("tunables")) mutant.tunables = json.at("tunables").get<TunableValues>();
  mutant.open = json.value("open", "");
  if (!json.contains("rejected")) return mutant;
  const auto& rejected = json.at("rejected");
  mutant.rejected = {rejected.at("outcome"), rejected.value("test", ""), rejected.value("tensor", ""),
                     rejected.value("word", "")};
  return mutant;
}

Result<Verdict> judge(Sandbox& sandbox, const Compiled& compiled, std::uint64_t seed, Deadline deadline) {
  Verdict verdict;
  verdict.outcome = compiled.outcome;
  if (!std::holds_alternative<Passed>(compiled.outcome)) return verdict;
  auto grade = sandbox.grade(compiled, {.seed = seed}, deadline);
  if (!grade) return because(grade.error(), "grading");
  verdict.outcome = grade->outcome;
  for (const GateResult& gate : grade->gates)
    verdict.error_over_tolerance = std::max(verdict.error_over_tolerance, share_of(gate));
  verdict.grade = std::move(*grade);
  return verdict;
}

// What one thread judges with: two grades at a time share no state.
class Bench {
 public:
  static Result<std::unique_ptr<Bench>> open(const MutantTable& table, const JudgeOptions& options,
                                             const std::filesystem::path& cache) {
    auto bench = std::make_unique<Bench>();
    auto task = tasks::load_task(table.task, table.variant);
    if (!task) return because(task.error());
    bench->task_ = std::move(*task);
    auto seed = tasks::seed_kernel(bench->task_);
    if (!seed) return because(seed.error());
    bench->seed_source_ = std::move(*seed);
    EmulatedOptions emulated;
    emulated.worker = options.worker;
    emulated.cache = cache;
    emulated.weight_seed = 11;
    emulated.threads = 1;
    emulated.grade_limits.launch_s = 200;  // a busy machine; what spins runs into the limit of instructions
    emulated.grade_limits.instructions = 100'000'000;
    auto sandbox = open_emulated(bench->task_, emulated, bench->clock_);
    if (!sandbox) return because(sandbox.error());
    bench->sandbox_ = std::move(*sandbox);
    return bench;
  }

  Result<std::vector<Verdict>> judge_with(const Mutant& mutant, const std::vector<std::uint64_t>& seeds) {
    auto source = apply(mutant, seed_source_);
    if (!source) return because(source.error());
    const Deadline deadline = Deadline::after(clock_, Seconds(500));
    auto compiled = sandbox_->compile({*source, mutant.tunables}, deadline);
    if (!compiled) return because(compiled.error(), mutant.name);
    std::vector<Verdict> verdicts;
    for (const std::uint64_t seed : seeds) {
      auto verdict = judge(*sandbox_, *compiled, seed, deadline);
      if (!verdict) return because(verdict.error(), mutant.name);
      verdicts.push_back(std::move(*verdict));
    }
    return verdicts;
  }

 private:
  SystemClock clock_;
  tasks::Task task_;
  std::string seed_source_;
  std::unique_ptr<Sandbox> sandbox_;
};

}  // namespace

Result<MutantTable> read_mutants(const std::filesystem::path& file) {
  const auto text = read_file(file, 4 << 20);
  if (!text) return because(text.error());
  try {
    const auto json = nlohmann::json::parse(*text);
    MutantTable table{json.at("task"), json.at("variant"), {}, {}};
    for (const auto& mutant : json.at("mutants")) table.mutants.push_back(mutant_of(mutant));
    for (const auto& honest : json.at("honest")) table.honest.push_back(mutant_of(honest));
    return table;
  } catch (const nlohmann::json::exception& error) {
    return invalid(file.string() + ": " + error.what());
  }
}

Result<std::string> apply(const Mutant& mutant, std::string source) {
  for (const auto& [from, to] : mutant.replace) {
    const std::size_t at = source.find(from);
    if (at == std::string::npos) return invalid(mutant.name + ": the seed no longer has the text: " + from);
    if (source.find(from, at + 1) != std::string::npos) return invalid(mutant.name + ": the seed has it twice: " + from);
    source.replace(at, from.size(), to);
  }
  return source;
}

std::vector<Result<std::vector<Verdict>>> judge_all(const MutantTable& table, const std::vector<Mutant>& mutants,
                                                    const JudgeOptions& options) {
  std::vector<Result<std::vector<Verdict>>> verdicts(mutants.size(), unavailable("not judged"));
  const TemporaryFolder cache;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    auto bench = Bench::open(table, options, cache.path);
    for (std::size_t i = next++; i < mutants.size(); i = next++)
      verdicts[i] = bench ? (*bench)->judge_with(mutants[i], options.seeds) : because(bench.error());
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.threads; ++i) threads.emplace_back(work);
  }
  return verdicts;
}

std::string difference(const Rejection& expected, const Verdict& verdict) {
  const std::string said = name_of(verdict.outcome) + (": " + explain(verdict.outcome));
  if (name_of(verdict.outcome) != expected.outcome) return "expected " + expected.outcome + ", got " + said;
  const auto fits = [&](const GateResult& gate) {
    return (expected.test.empty() || gate.test == expected.test) && (expected.tensor.empty() || gate.tensor == expected.tensor);
  };
  const bool by_gate = !expected.test.empty() || !expected.tensor.empty();
  if (by_gate && std::ranges::none_of(verdict.grade.gates, fits))
    return "expected " + expected.test + " of " + expected.tensor + ", got " + said;
  if ((reason(verdict) + " " + said).find(expected.word) == std::string::npos) return "expected " + expected.word + ", got " + said;
  return "";
}

double share_of(const GateResult& gate) {
  if (gate.tolerance > 0) return std::abs(gate.got - gate.want) / gate.tolerance;
  return gate.passed ? 0 : std::numeric_limits<double>::infinity();
}

std::string reason(const Verdict& verdict) {
  if (const auto* refused = std::get_if<Refused>(&verdict.outcome)) return refused->rule;
  if (const auto* faulted = std::get_if<Faulted>(&verdict.outcome)) return faulted->kind;
  const bool wrong = std::holds_alternative<WrongAnswer>(verdict.outcome);
  if (!wrong || verdict.grade.gates.empty()) return name_of(verdict.outcome);
  const GateResult& worst = *std::ranges::max_element(verdict.grade.gates, {}, share_of);
  return worst.test + (worst.tensor.empty() ? "" : " of " + worst.tensor);
}

}  // namespace onelaunch::sandbox
