#pragma once
// The emulated device beside a session's own: for the detectors, at the task's smallest variant. Opened when first needed.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/sandbox.h"
#include "tasks/task.h"

namespace onelaunch::agent {

using OpenEmulated = std::function<Result<std::unique_ptr<sandbox::Sandbox>>(const tasks::Task&)>;

class Emulation {
 public:
  // Borrows all; `open` may be empty: then the one that is installed is opened.
  Emulation(const tasks::Task& task, sandbox::Sandbox& own, const Clock& clock, OpenEmulated open);

  // Name of the smallest variant; the session's own where no other is known.
  const std::string& variant();
  // The session's own sandbox when it is an emulated one at that variant.
  Result<sandbox::Sandbox*> sandbox();

 private:
  void find_smallest();

  const tasks::Task& task_;
  sandbox::Sandbox& own_;
  const Clock& clock_;
  OpenEmulated open_;
  std::unique_ptr<tasks::Task> smallest_;  // null: the session's own
  std::string variant_;                    // empty: not looked for yet
  std::unique_ptr<sandbox::Sandbox> opened_;
};

}  // namespace onelaunch::agent
