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

  Result<void> reset(const ChainStart& start) override;
  Result<tasks::Bytes> draw(int step, int weight_set) override;
  Result<std::vector<tasks::Bytes>> step() override;
  Result<std::vector<tasks::Bytes>> states() override { return oracle_.states(); }

 private:
  const tasks::Task& task_;
  tasks::Oracle oracle_;
  ChainStart start_;
  tasks::Bytes token_;
};

}  // namespace onelaunch::sandbox
