#pragma once
// The float64 reference: the task's ops, with each result rounded where the task says so, and nowhere else.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace onelaunch::tasks {

using Bytes = std::vector<std::byte>;

struct OracleStep {
  std::vector<Bytes> outputs;                           // one per output tensor, in task order, in its dtype
  std::vector<double> margins;                          // top-k margin of each routed layer, in logits
  std::map<std::string, std::vector<double>> probes;    // every named intermediate, when asked for
};

class Oracle {
 public:
  // Borrows the task and the weight arena (tasks/generator.h).
  Oracle(const Task& task, std::span<const std::byte> weights, int threads);
  Oracle(Oracle&&) noexcept;
  ~Oracle();

  // Starts a chain: one buffer per state tensor in task order, `position` tokens cached, caches of `capacity` rows.
  void reset(std::vector<Bytes> states, std::int64_t position, std::int64_t capacity);

  // Smallest top-k margin that this token would meet; stops at the first one below `enough`. Changes nothing.
  // Infinity for a task without routing.
  double margin(std::span<const std::byte> token, double enough);

  // One token: advances the states and the position.
  OracleStep step(std::span<const std::byte> token, bool with_probes = false);

  const std::vector<Bytes>& states() const;
  std::int64_t position() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

constexpr double kRoutingMargin = 0.05;  // in logits; an honest kernel cannot flip a choice this clear
constexpr int kDrawsMax = 256;

// Draws the step's token until its margin suffices. Fails (invalid_input) after kDrawsMax tries.
struct DrawnToken { Bytes token; int draw = 0; double margin = 0; };
Result<DrawnToken> draw_token(Oracle& oracle, const Task& task, std::uint64_t seed, InputSet set, int step);

}  // namespace onelaunch::tasks
