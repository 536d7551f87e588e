#pragma once
// What a catalogue needs to know of a task file without reading all of it. parse_task() itself is in tasks/task.h.

#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::tasks {

struct TaskOutline {
  std::string name, title;
  std::vector<std::string> variants;  // "full" first
};
Result<TaskOutline> outline_task(const std::string& json_text, const std::string& file);

}  // namespace onelaunch::tasks
