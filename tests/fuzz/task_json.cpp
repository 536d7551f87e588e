// A task file: whatever it says, it is refused or has sizes that can be computed with.
#include "tasks/generator.h"
#include "tasks/parse.h"
#include "tasks/task.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace onelaunch::tasks;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)outline_task(text, "task.json");
  for (const char* variant : {"", "tiny"})
    if (const auto task = parse_task(text, "task.json", variant)) (void)weight_arena(*task);
  return 0;
}
