#pragma once
// The least a token must move and compute, counted from the graph alone.

#include <cstdint>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

struct Cost {
  double bytes_read = 0, bytes_written = 0, flops = 0;
  double bytes() const { return bytes_read + bytes_written; }
};
struct OpCost {
  std::string op;
  Cost cost;
};

// Weights, scales and zeros that a token uses (of routed experts only the chosen ones), states read and written once,
// cache rows read once. The token, the output and the appended row are not counted. Attention is counted absorbed.
std::vector<OpCost> op_costs(const Task& task, std::int64_t context);
Cost token_cost(const Task& task, std::int64_t context);

}  // namespace onelaunch::tasks
