#pragma once
// Finds tasks by name in the library folder (or by path), with their seed kernels.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "tasks/task.h"

namespace onelaunch::tasks {

struct CatalogEntry {
  std::string name, title;
  std::vector<std::string> variants;  // "full" first
  std::filesystem::path folder;
};

// $ONELAUNCH_TASKS, else tasks/library beside the working directory or beside the executable, else as configured.
std::filesystem::path library_folder();

Result<std::vector<CatalogEntry>> list_tasks(const std::filesystem::path& library);

// `name` is a name in the library or a path to a task.json. An unknown name is answered with the known ones.
Result<Task> load_task(const std::string& name, const std::string& variant);

// Source of the task's seed kernel (seed.cu in its folder).
Result<std::string> seed_kernel(const Task& task);

}  // namespace onelaunch::tasks
