#pragma once
// The right answers of a chain of steps, wherever they are computed: the port that chains are compared through.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/host/chain_start.h"
#include "tasks/oracle.h"
#include "tasks/task.h"

namespace onelaunch::sandbox {

class Reference {
 public:
  virtual ~Reference() = default;

  virtual Result<void> reset(const ChainStart& start) = 0;
  // The token of a step of the chain, drawn until no routed layer is near a tie (tasks/oracle.h): all inputs in task
  // order, one behind the other. `weight_set`: which of the session's sets of weights that step is on.
  virtual Result<tasks::Bytes> draw(int step, int weight_set) = 0;
  // Takes that step: the outputs in task order. Changes nothing that draw() said.
  virtual Result<std::vector<tasks::Bytes>> step() = 0;
  virtual Result<std::vector<tasks::Bytes>> states() = 0;
};

}  // namespace onelaunch::sandbox
