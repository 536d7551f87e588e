#include "sandbox/host/oracle_reference.h"

#include "base/check.h"

namespace onelaunch::sandbox {

Result<void> OracleReference::reset(const ChainStart& start) {
  start_ = start;
  oracle_.reset(drawn_states(task_, start), start.context, start.capacity);
  return {};
}

Result<tasks::Bytes> OracleReference::draw(int step, int weight_set) {
  OL_CHECK(weight_set == 0, "the oracle has one set of weights");
  auto drawn = tasks::draw_token(oracle_, task_, start_.seed, start_.inputs, step);
  if (!drawn) return because(drawn.error(), "drawing a token");
  return token_ = std::move(drawn->token);
}

Result<std::vector<tasks::Bytes>> OracleReference::step() { return oracle_.step(token_).outputs; }

}  // namespace onelaunch::sandbox
