#include "sandbox/host/oracle_reference.h"

#include "base/check.h"

namespace onelaunch::sandbox {

Result<void> OracleReference::reset(const std::vector<tasks::Bytes>& states, tasks::InputSet inputs,
                                    std::int64_t position, std::int64_t capacity) {
  inputs_ = inputs;
  oracle_.reset(states, position, capacity);
  return {};
}

Result<tasks::Bytes> OracleReference::draw(std::uint64_t seed, int step, int weight_set) {
  OL_CHECK(weight_set == 0, "the oracle has one set of weights");
  auto drawn = tasks::draw_token(oracle_, task_, seed, inputs_, step);
  if (!drawn) return because(drawn.error(), "drawing a token");
  return token_ = std::move(drawn->token);
}

Result<std::vector<tasks::Bytes>> OracleReference::step() { return oracle_.step(token_).outputs; }

}  // namespace onelaunch::sandbox
