// Prints the tables of docs/gates.md: what rejects each mutant and by how much, and how close honest variants come.
// Usage: hostile_table MUTANTS.json WORKER SEEDS [NAME...], seeds as in 5,6,7

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>

#include "tests/sandbox/host/hostile_mutants.h"

namespace onelaunch::sandbox {
namespace {

using Verdicts = Result<std::vector<Verdict>>;

bool passed(const Verdict& verdict) { return std::holds_alternative<Passed>(verdict.outcome); }

std::string number(double value) {
  if (std::isinf(value)) return "none tolerated";
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : "%.0f", value);
  return text;
}

std::string place_of(const Verdict& verdict) {
  if (verdict.grade.gates.empty() || passed(verdict)) return "";
  const GateResult& gate = verdict.grade.gates.front();
  const bool strict = gate.detail.find("[strict inputs]") != std::string::npos;
  return (strict ? "strict, " : "nominal, ") + std::to_string(gate.context) + ", step " + std::to_string(gate.step);
}

// The verdict of the seed that was hardest to reject.
const Verdict& mildest(const std::vector<Verdict>& verdicts) {
  return *std::ranges::min_element(verdicts, {}, [](const Verdict& v) {
    if (passed(v)) return -1.0;
    return std::holds_alternative<WrongAnswer>(v.outcome) ? v.error_over_tolerance : std::numeric_limits<double>::infinity();
  });
}

int print_mutants(const std::vector<Mutant>& mutants, const std::vector<Verdicts>& all) {
  int accepted = 0;
  std::printf("| mutant | outcome | by | inputs | error / tolerance, mildest seed |\n|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    if (!all[i]) {
      std::printf("| %s | ERROR | %s | | |\n", mutants[i].name.c_str(), all[i].error().message.c_str());
      continue;
    }
    const Verdict& verdict = mildest(*all[i]);
    accepted += passed(verdict);
    const bool compared = passed(verdict) || std::holds_alternative<WrongAnswer>(verdict.outcome);
    std::printf("| %s | %s | %s | %s | %s |\n", mutants[i].name.c_str(), name_of(verdict.outcome), reason(verdict).c_str(),
                place_of(verdict).c_str(), compared ? number(verdict.error_over_tolerance).c_str() : "");
    if (!compared) std::fprintf(stderr, "%s: %s\n", mutants[i].name.c_str(), explain(verdict.outcome).substr(0, 300).c_str());
  }
  return accepted;
}

int print_honest(const std::vector<Mutant>& variants, const std::vector<Verdicts>& all) {
  int rejected = 0;
  std::printf("| honest variant | outcome | worst error / tolerance | where |\n|---|---|---|---|\n");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!all[i]) {
      std::printf("| %s | ERROR | %s | |\n", variants[i].name.c_str(), all[i].error().message.c_str());
      continue;
    }
    const Verdict& worst = *std::ranges::max_element(*all[i], {}, &Verdict::error_over_tolerance);
    rejected += !std::ranges::all_of(*all[i], passed);
    const GateResult* gate = worst.grade.gates.empty() ? nullptr : &worst.grade.gates.front();
    std::printf("| %s | %s | %s | %s |\n", variants[i].name.c_str(), name_of(worst.outcome),
                number(worst.error_over_tolerance).c_str(), gate ? (gate->test + " of " + gate->tensor).c_str() : "");
  }
  return rejected;
}

// The worst that honest variants come to in each test.
void print_margins(const std::vector<Mutant>& variants, const std::vector<Verdicts>& all) {
  std::map<std::string, std::pair<double, std::string>> worst;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!all[i]) continue;
    for (const Verdict& verdict : *all[i])
      for (const GateResult& gate : verdict.grade.gates) {
        auto& [share, who] = worst[gate.test];
        if (const double now = share_of(gate); who.empty() || now > share)
          share = now, who = variants[i].name + ", " + gate.tensor;
      }
  }
  std::printf("| test | worst honest error / tolerance | which |\n|---|---|---|\n");
  for (const auto& [test, of] : worst) std::printf("| %s | %s | %s |\n", test.c_str(), number(of.first).c_str(), of.second.c_str());
}

std::vector<Mutant> named(std::vector<Mutant> mutants, const std::vector<std::string>& names) {
  if (!names.empty())
    std::erase_if(mutants, [&](const Mutant& mutant) { return std::ranges::find(names, mutant.name) == names.end(); });
  return mutants;
}

std::vector<std::uint64_t> seeds_of(const std::string& list) {
  std::vector<std::uint64_t> seeds;
  std::istringstream in(list);
  for (std::string seed; std::getline(in, seed, ',');) seeds.push_back(std::strtoull(seed.c_str(), nullptr, 10));
  return seeds;
}

int run(const std::string& file, const std::string& worker, const std::string& seeds,
        const std::vector<std::string>& names) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a table that is cut short should still show
  const auto table = read_mutants(file);
  if (!table) return std::fprintf(stderr, "%s\n", table.error().message.c_str()), 1;
  const JudgeOptions options{.worker = worker, .seeds = seeds_of(seeds), .threads = 2};
  const auto mutants = named(table->mutants, names), honest = named(table->honest, names);
  const int accepted = print_mutants(mutants, judge_all(*table, mutants, options));
  std::printf("\n");
  const auto of_honest = judge_all(*table, honest, options);
  const int rejected = print_honest(honest, of_honest);
  std::printf("\n");
  print_margins(honest, of_honest);
  std::printf("\n%zu mutants, %d accepted with at least one seed; %zu honest variants, %d rejected.\n", mutants.size(),
              accepted, honest.size(), rejected);
  return 0;
}

}  // namespace
}  // namespace onelaunch::sandbox

int main(int count, char** arguments) {
  if (count < 4) return std::fprintf(stderr, "usage: hostile_table MUTANTS.json WORKER SEEDS [NAME...]\n"), 2;
  return onelaunch::sandbox::run(arguments[1], arguments[2], arguments[3], {arguments + 4, arguments + count});
}
