#pragma once
// What is exported: a kernel with its task and tunables, found in a run directory, its best/, a published kernel's folder
// or a plain CUDA file.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/protocol/candidate.h"
#include "tasks/task.h"

namespace onelaunch::exporting {

struct SubjectRequest {
  std::filesystem::path path;
  // For a plain file, which says none of it. Elsewhere the record knows: it is an error to give another task or variant.
  std::string task, variant;
  sandbox::TunableValues tunables;  // over those recorded
  std::string target;               // over the one recorded; empty: recorded, else sm_90a
};

struct Subject {
  tasks::Task task;
  std::string source;               // as it lies there
  sandbox::TunableValues tunables;  // of those named; the others keep their defaults
  std::string target;
  std::string card;                 // card.json; empty when there is none
  // The binary that was measured; empty when there is none, or when the task, the tunables or the target are others now.
  std::string cubin;
  std::filesystem::path run;        // holds events.jsonl; empty when there is none
  std::vector<std::string> remarks; // for the user: what is not as it was recorded
};

// Fails (invalid_input) on a folder that holds no kernel, a damaged card, an unknown task.
Result<Subject> read_subject(const SubjectRequest& request);

}  // namespace onelaunch::exporting
