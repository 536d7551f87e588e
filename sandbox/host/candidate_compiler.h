#pragma once
// From a candidate's source to a compiled module that passed the static gate, or the reason why not. The same on every
// device.

#include <memory>
#include <string>
#include <vector>

#include "sandbox/host/compiler.h"
#include "sandbox/host/sandbox.h"
#include "tasks/header.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

// What a session is told of the device that it opened.
DeviceInfo info_of(const std::string& kind, const DeviceFacts& facts, const Compiler& compiler);

class CandidateCompiler {
 public:
  // Borrows task, clock and facts. The compiler may be shared.
  CandidateCompiler(const tasks::Task& task, Compiler& compiler, const DeviceFacts& facts, const CompileLimits& limits,
                    std::size_t source_bytes_max, const Clock& clock);

  Result<Compiled> compile(const CompileRequest& request, Deadline deadline, const Interrupts::Scope& interrupts) {
    return compile(request, {}, deadline, interrupts);
  }
  // A build whose marks do something (tasks/header.h), which may read the clock. Never graded. `defines`: "OL_PROFILE_PLAIN".
  struct MarkedBuild {
    tasks::Build build = tasks::Build::timed;
    std::vector<std::string> defines;
  };
  Result<Compiled> compile(const CompileRequest& request, const MarkedBuild& build, Deadline deadline,
                           const Interrupts::Scope& interrupts);

 private:
  std::optional<Refused> refuse_source(const CompileRequest& request) const;
  CompileJob job_for(const std::string& source, const TunableValues& values, const MarkedBuild& build) const;
  void judge(CompileReply reply, bool marked, Compiled& compiled) const;

  const tasks::Task& task_;
  Compiler& compiler_;
  const DeviceFacts& facts_;
  const CompileLimits limits_;
  const std::size_t source_bytes_max_;
  const Clock& clock_;
  const std::string header_;
};

}  // namespace onelaunch::sandbox
