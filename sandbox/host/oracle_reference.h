#pragma once
// The float64 oracle as a Reference. It has one set of weights, of one set of inputs.

#include <span>

#include "sandbox/host/reference.h"

namespace onelaunch::sandbox {

class OracleReference final : public Reference {
 public:
  // Borrows both.
  OracleReference(const tasks::Task& task, std::span<const std::byte> weights, int threads)
      : task_(task), oracle_(task, weights, threads) {}

  Result<void> reset(const std::vector<tasks::Bytes>& states, tasks::InputSet inputs, std::int64_t position,
                     std::int64_t capacity) override;
  Result<tasks::Bytes> draw(std::uint64_t seed, int step, int weight_set) override;
  Result<std::vector<tasks::Bytes>> step() override;
  Result<std::vector<tasks::Bytes>> states() override { return oracle_.states(); }

 private:
  const tasks::Task& task_;
  tasks::Oracle oracle_;
  tasks::InputSet inputs_ = tasks::InputSet::nominal;
  tasks::Bytes token_;
};

}  // namespace onelaunch::sandbox
