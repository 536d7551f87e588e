#pragma once
// The workbench that a session offers its agent.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/loop/emulation.h"
#include "agent/loop/opening.h"
#include "agent/loop/workbench.h"
#include "agent/loop/workplace.h"

namespace onelaunch::agent {

class SessionWorkbench final : public Workbench {
 public:
  // Borrows both. `opened` is looked at whenever it is asked how the session stands.
  SessionWorkbench(Workplace& place, const std::optional<Opened>& opened, OpenEmulated open_emulated);

  // Of the session: what was judged until now; one more; what judging the next may take.
  void begin(std::vector<Report> history) { history_ = std::move(history); }
  void judged(const Report& report) { history_.push_back(report); }
  void expect_evaluation(double seconds) { evaluation_s_ = seconds; }
  // Before the account is closed: moves what was waited for a provider.
  void settle();

  Situation situation() const override;
  const tasks::Task& task() const override { return place_.task; }
  const sandbox::DeviceInfo& device() const override { return place_.sandbox.device(); }
  const std::vector<Report>& history() const override { return history_; }
  Result<std::string> source_of(const std::string& id) const override;
  Result<sandbox::Compiled> compile(const Proposal& proposal, Deadline deadline) override;
  Result<sandbox::Grade> emulate(const Proposal& proposal, const sandbox::GradeRequest& request, Deadline deadline) override;
  std::string emulated_variant() const override { return emulation_.variant(); }
  Result<std::string> profile(const Proposal& proposal, Deadline deadline) override;
  Result<std::string> microbench(Deadline deadline) override;
  Result<std::string> machine_code(const sandbox::Compiled& compiled, Deadline deadline) override;
  void interrupt() override;
  void record(const traces::Event& event) override;
  std::string store(const std::string& text) override { return place_.recorder.store(text); }
  Result<std::string> stored(const std::string& sha256) const override;
  Deadline work_end() const override { return place_.budget.work_end(); }
  bool stopping() const override { return place_.stopping(); }

 private:
  template <class Step>
  auto guarded(Spent spent, const std::string& what, sandbox::Sandbox& sandbox, Deadline deadline, Step step) -> decltype(step(deadline));
  bool ended(Deadline end) const { return interrupted_ || place_.stopping() || end.passed(place_.clock); }
  Error cut_short() const;

  Workplace& place_;
  const std::optional<Opened>& opened_;
  mutable Emulation emulation_;
  std::vector<Report> history_;
  double evaluation_s_ = 0, waits_s_ = 0;
  std::atomic<bool> interrupted_{false};
};

}  // namespace onelaunch::agent
