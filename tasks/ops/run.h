#pragma once
// What an op sees while the oracle evaluates it for one token.

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/ops/op.h"
#include "tasks/ops/thread_pool.h"

namespace onelaunch::tasks {

// One expert of an int4 weight: w[k][c] = bf16((q - zero) * scale).
struct Int4Matrix {
  const std::uint8_t* packed = nullptr;  // (in/2, out), even k in the low nibble
  const std::uint16_t* scale = nullptr;  // bf16, (in/group, out)
  const std::uint16_t* zero = nullptr;   // bf16, (in/group, out)
  std::int64_t in = 0, out = 0, group = 128;
};

// Memory of one operand; which member is set depends on what it is.
struct Storage {
  std::span<double> values;                        // of a result, an input or an output
  std::span<const std::byte> bytes;                // of a plain weight or a state
  std::span<std::byte> writable;                   // of a state that the op updates
  std::span<const std::byte> packed, scale, zero;  // of an int4 weight
};

class OpRun {
 public:
  struct Place {
    std::int64_t position = 0;  // tokens cached before this one; its row in a cache
    ThreadPool* pool = nullptr;
  };
  OpRun(const OpView& op, Place where, std::vector<Storage> in, std::vector<Storage> out)
      : view(op), place(where), in_(std::move(in)), out_(std::move(out)) {}

  const OpView& view;
  const Place place;
  double margin = -1;  // set by an op that chooses: least distance to another choice

  // Inputs. A cache's rows are 0 to position, the last one only after an append.
  std::span<const double> in(std::size_t i) const { return in_[i].values; }
  std::vector<double> doubles(std::size_t i) const;          // a plain weight or a result
  std::span<const std::uint16_t> bf16(std::size_t i) const;  // a plain weight, state or cache
  Int4Matrix int4(std::size_t i, std::int64_t expert = 0) const;

  // Outputs.
  std::span<double> out(std::size_t i) const { return out_[i].values; }
  std::span<std::uint16_t> bf16_state(std::size_t i) const;
  std::span<float> f32_state(std::size_t i) const;

 private:
  std::vector<Storage> in_, out_;
};

}  // namespace onelaunch::tasks
