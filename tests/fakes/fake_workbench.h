#pragma once
// A workbench without a session: tests set how it stands and what trials answer, and read what was recorded.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/workbench.h"
#include "base/sha256.h"
#include "tests/fakes/fake_clock.h"

namespace onelaunch::fakes {

class FakeWorkbench final : public agent::Workbench {
 public:
  explicit FakeWorkbench(FakeClock& clock) : clock_(clock), began_(clock.now()) {
    info.kind = "emu", info.name = "H200 (emulated)", info.target = "sm_90a", info.sms = 132;
    info.stream_tb_s = 4.71, info.grid_barrier_us = 0.98, info.launch_us = 1.42;
    job.name = "small", job.variant = "tiny", job.title = "A small task", job.prose = "Computes y.\n";
  }

  // Judges: adds to the history. The first is the seed.
  const agent::Report& judged(agent::Report report) {
    if (report.candidate.empty()) report.candidate = "c" + std::to_string(reports.size());
    if (!reports.empty()) ++standing.decisions;
    const bool kept = report.verdict == agent::Verdict::keep;
    if (!reports.empty() && kept) ++standing.kept;
    if (reports.empty() || kept) standing.incumbent = report.candidate, standing.best_us = report.us;
    if (reports.empty()) standing.seed_us = report.us;
    return reports.emplace_back(std::move(report));
  }
  const agent::Report& seed(const std::string& source, double us = 100) {
    agent::Report report{.candidate = "c0", .proposal = {.source = source}, .verdict = agent::Verdict::keep};
    report.outcome = "passed", report.us = us;
    return judged(report);
  }

  Situation situation() const override {
    Situation now = standing;
    now.wall_s = wall_s;
    now.used_s = (clock_.now() - began_).count();
    now.left_s = std::max(0.0, wall_s - reserve_s - now.used_s);
    return now;
  }
  const tasks::Task& task() const override { return job; }
  const sandbox::DeviceInfo& device() const override { return info; }
  const std::vector<agent::Report>& history() const override { return reports; }
  Result<std::string> source_of(const std::string& id) const override {
    for (const agent::Report& report : reports)
      if (report.candidate == id) return report.proposal.source;
    return invalid("there is no judged candidate " + id);
  }

  Result<sandbox::Compiled> compile(const agent::Proposal& proposal, Deadline deadline) override {
    return on_compile ? on_compile(proposal, deadline) : Result<sandbox::Compiled>(passed(proposal));
  }
  Result<sandbox::Grade> emulate(const agent::Proposal& proposal, const sandbox::GradeRequest& request, Deadline deadline) override {
    return on_emulate ? on_emulate(proposal, request, deadline) : Result<sandbox::Grade>(sandbox::Grade{});
  }
  std::string emulated_variant() const override { return "tiny"; }
  Result<std::string> profile(const agent::Proposal& proposal, Deadline deadline) override {
    return on_profile ? on_profile(proposal, deadline) : Result<std::string>(unavailable("there is no profiler here"));
  }
  Result<std::string> microbench(Deadline) override { return "stream 4.71 TB/s\n"; }
  Result<std::string> machine_code(const sandbox::Compiled&, Deadline) override {
    if (sass.empty()) return unavailable("neither nvdisasm nor cuobjdump is installed");
    return sass;
  }
  void interrupt() override { ++interrupts; }

  void record(const traces::Event& event) override { events.push_back(event); }
  std::string store(const std::string& text) override {
    const std::string hash = sha256_hex(text);
    blobs[hash] = text;
    return hash;
  }
  Result<std::string> stored(const std::string& sha256) const override {
    const auto found = blobs.find(sha256);
    if (found == blobs.end()) return invalid("there is no blob " + sha256);
    return found->second;
  }
  Deadline work_end() const override { return {began_ + Seconds(wall_s - reserve_s)}; }
  bool stopping() const override { return stopped; }

  static sandbox::Compiled passed(const agent::Proposal& proposal) {
    sandbox::Compiled compiled;
    compiled.outcome = sandbox::Passed{};
    compiled.ptx = "// PTX\n", compiled.cubin = "cubin";
    compiled.source_sha256 = sha256_hex(proposal.source);
    compiled.tunables = proposal.tunables;
    return compiled;
  }

  template <class E>
  std::vector<E> recorded() const {
    std::vector<E> found;
    for (const traces::Event& event : events)
      if (const auto* wanted = std::get_if<E>(&event)) found.push_back(*wanted);
    return found;
  }

  Situation standing;  // times come from the clock
  double wall_s = 3600, reserve_s = 180;
  tasks::Task job;
  sandbox::DeviceInfo info;
  std::vector<agent::Report> reports;
  std::function<Result<sandbox::Compiled>(const agent::Proposal&, Deadline)> on_compile;
  std::function<Result<sandbox::Grade>(const agent::Proposal&, const sandbox::GradeRequest&, Deadline)> on_emulate;
  std::function<Result<std::string>(const agent::Proposal&, Deadline)> on_profile;
  std::string sass;
  std::vector<traces::Event> events;
  std::map<std::string, std::string> blobs;
  bool stopped = false;
  int interrupts = 0;

 private:
  FakeClock& clock_;
  Seconds began_;
};

}  // namespace onelaunch::fakes
