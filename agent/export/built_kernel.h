#pragma once
// A subject compiled, and all that a launcher outside of the harness has to know of it.

#include <string>
#include <vector>

#include "agent/export/subject.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::exporting {

struct BuiltKernel {
  std::string cubin;                 // the recorded one where there is one
  sandbox::LaunchDeclaration launch;
  std::vector<sandbox::PrepareDeclaration> prepares;  // in their order
  sandbox::TunableValues tunables;   // all of them
};

// Fails (invalid_input) with the compiler's or the gate's words when the source is refused.
Result<BuiltKernel> build(const Subject& subject, sandbox::Sandbox& sandbox, Deadline deadline);

// JSON: task, variant, target, dims, tensors, tunables, launch, prepares, and where ol::Args and ol::PrepareArgs keep what
// (in words of 8 bytes). One line.
std::string describe(const Subject& subject, const BuiltKernel& kernel);

}  // namespace onelaunch::exporting
