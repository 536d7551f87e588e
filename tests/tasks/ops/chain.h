#pragma once
// A task of the library with drawn weights and states, for tests.

#include <string>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "tasks/generator.h"
#include "tasks/ops/op.h"
#include "tasks/oracle.h"

namespace onelaunch::tasks {

inline Task library_task(const std::string& name, const std::string& variant) {
  const std::string file = std::string(ONELAUNCH_LIBRARY) + "/" + name + "/task.json";
  const Result<std::string> text = read_file(file, 1 << 20);
  OL_CHECK(text.has_value(), text ? "" : text.error().message);
  Result<Task> task = parse_task(*text, file, variant);
  OL_CHECK(task.has_value(), task ? "" : task.error().message);
  return *std::move(task);
}

struct Chain {
  Task task;
  InputSet set;
  std::uint64_t seed;
  std::int64_t context, capacity;
  Bytes weights;
  std::vector<Bytes> states;

  Chain(const std::string& name, const std::string& variant, InputSet inputs, std::int64_t cached,
        std::uint64_t from_seed = 7)
      : Chain(library_task(name, variant), inputs, cached, from_seed) {}
  Chain(Task described, InputSet inputs, std::int64_t cached, std::uint64_t from_seed = 7)
      : task(std::move(described)),
        set(inputs),
        seed(from_seed),
        context(cached),
        capacity(cached + 8),
        weights(weight_arena(task).bytes) {
    fill_weights(task, seed, set, weights, 2);
    for (const Tensor* tensor : task.with(Role::state)) {
      states.emplace_back(tensor->bytes(capacity));
      fill_tensor(task, *tensor, seed + 1, set, context, states.back());
    }
  }

  Oracle oracle(int threads) const {
    Oracle made(task, weights, threads);
    made.reset(states, context, capacity);
    return made;
  }
  Bytes token(int step) const {
    Bytes bytes;
    for (const Tensor* input : task.with(Role::input)) {
      Bytes one(input->bytes(0));
      fill_token(task, *input, seed + 2, set, step, 0, one);
      bytes.insert(bytes.end(), one.begin(), one.end());
    }
    return bytes;
  }
};

// The rel_l2 that the task allows a compared tensor.
inline double tolerance_of(const Task& task, const Tensor& tensor) {
  const auto own = task.tensor_tolerance.find(tensor.name);
  if (own != task.tensor_tolerance.end()) return own->second.rel_l2;
  return (tensor.role == Role::output ? task.output_tolerance : task.state_tolerance).rel_l2;
}

}  // namespace onelaunch::tasks
