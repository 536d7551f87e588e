#include "tasks/oracle.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bfloat16.h"
#include "base/check.h"
#include "tasks/generator.h"
#include "tasks/ops/run.h"

namespace onelaunch::tasks {
namespace {

void round_to(DType dtype, std::span<double> values) {
  if (dtype == DType::bf16)
    for (double& value : values) value = bf16_to_float(double_to_bf16(value));
  else if (dtype == DType::f32)
    for (double& value : values) value = static_cast<float>(value);
}

void decode(std::span<const std::byte> bytes, DType dtype, std::span<double> values) {
  OL_CHECK(bytes.size() == values.size() * element_bytes(dtype), "an input of the wrong size");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::bf16) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &bytes[i * 2], 2);
      values[i] = bf16_to_float(bits);
    } else {
      OL_CHECK(dtype == DType::f32, "an input that is neither f32 nor bf16");
      float value = 0;
      std::memcpy(&value, &bytes[i * 4], 4);
      values[i] = value;
    }
  }
}

Bytes encode(std::span<const double> values, DType dtype) {
  Bytes bytes(values.size() * element_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::bf16) {
      const std::uint16_t bits = double_to_bf16(values[i]);
      std::memcpy(&bytes[i * 2], &bits, 2);
    } else if (dtype == DType::f32) {
      const auto value = static_cast<float>(values[i]);
      std::memcpy(&bytes[i * 4], &value, 4);
    } else {
      const auto value = static_cast<std::int32_t>(values[i]);
      std::memcpy(&bytes[i * 4], &value, 4);
    }
  }
  return bytes;
}

}  // namespace

struct Oracle::State {
  // What one op overwrote, so that margin() can put it back.
  struct Overwritten {
    std::size_t state, offset;
    Bytes bytes;
  };

  State(const Task& described, std::span<const std::byte> weights, int threads) : task(described), pool(threads) {
    for (const WeightArena::Place& place : weight_arena(task).places)
      arena[place.tensor->name] = weights.subspan(place.offset, place.bytes);
    for (const Tensor* tensor : task.with(Role::state)) {
      state_index[tensor->name] = state_tensors.size();
      state_tensors.push_back(tensor);
    }
    for (const Role role : {Role::input, Role::output})
      for (const Tensor* tensor : task.with(role))
        values[tensor->name].resize(static_cast<std::size_t>(tensor->elements(0)));
    for (const Op& op : task.ops) {
      views.push_back(view_of(task, op));
      for (const Operand& result : views.back().out)
        if (result.tensor == nullptr) values[result.name].resize(static_cast<std::size_t>(result.elements()));
    }
  }

  void load(std::span<const std::byte> token) {
    for (const Tensor* input : task.with(Role::input)) {
      OL_CHECK(token.size() >= input->bytes(0), "a token that is too short");
      decode(token.first(input->bytes(0)), input->dtype, values[input->name]);
      token = token.subspan(input->bytes(0));
    }
    OL_CHECK(token.empty(), "a token that is too long");
    for (const Tensor* tensor : state_tensors)
      OL_CHECK(!tensor->is_cache() || position < capacity, "a token beyond the capacity of the caches");
  }

  Storage storage(const Operand& operand) {
    Storage found;
    if (operand.quantised != nullptr) {
      found.packed = arena.at(operand.name + ".packed");
      found.scale = arena.at(operand.name + ".scale");
      found.zero = arena.at(operand.name + ".zero");
    } else if (operand.tensor != nullptr && operand.tensor->role == Role::weight) {
      found.bytes = arena.at(operand.name);
    } else if (operand.tensor != nullptr && operand.tensor->role == Role::state) {
      found.writable = states[state_index.at(operand.name)];
      found.bytes = found.writable;
    } else {
      found.values = values.at(operand.name);
    }
    return found;
  }

  // Evaluates one op and rounds its results. Its margin, or a negative number when it chooses nothing.
  double evaluate(const OpView& view) {
    std::vector<Storage> in, out;
    for (const Operand& operand : view.in) in.push_back(storage(operand));
    for (const Operand& operand : view.out) out.push_back(storage(operand));
    OpRun run(view, {.position = position, .pool = &pool}, std::move(in), std::move(out));
    view.kind->evaluate(run);
    for (const Operand& operand : view.out) {
      const bool state = operand.tensor != nullptr && operand.tensor->role == Role::state;
      if (!state) round_to(operand.dtype, values[operand.name]);
    }
    return run.margin;
  }

  void remember(const OpView& view, std::vector<Overwritten>& overwritten) {
    for (const Operand& operand : view.out) {
      if (operand.tensor == nullptr || operand.tensor->role != Role::state) continue;
      const std::size_t index = state_index.at(operand.name);
      Bytes& bytes = states[index];
      const std::size_t row = operand.tensor->is_cache() ? operand.tensor->bytes(1) : bytes.size();
      const std::size_t offset = operand.tensor->is_cache() ? row * static_cast<std::size_t>(position) : 0;
      const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
      overwritten.push_back({index, offset, Bytes(first, first + static_cast<std::ptrdiff_t>(row))});
    }
  }

  void restore(const std::vector<Overwritten>& overwritten) {
    for (auto entry = overwritten.rbegin(); entry != overwritten.rend(); ++entry)
      std::copy(entry->bytes.begin(), entry->bytes.end(),
                states[entry->state].begin() + static_cast<std::ptrdiff_t>(entry->offset));
  }

  const Task& task;
  ThreadPool pool;
  std::map<std::string, std::span<const std::byte>> arena;
  std::vector<const Tensor*> state_tensors;
  std::map<std::string, std::size_t> state_index;
  std::map<std::string, std::vector<double>> values;  // inputs, results and outputs
  std::vector<OpView> views;
  std::vector<Bytes> states;
  std::int64_t position = 0, capacity = 0;
};

Oracle::Oracle(const Task& task, std::span<const std::byte> weights, int threads)
    : state_(std::make_unique<State>(task, weights, threads)) {}
Oracle::Oracle(Oracle&&) noexcept = default;
Oracle::~Oracle() = default;

void Oracle::reset(std::vector<Bytes> states, std::int64_t position, std::int64_t capacity) {
  OL_CHECK(states.size() == state_->state_tensors.size(), "one buffer for each state tensor");
  for (std::size_t i = 0; i < states.size(); ++i)
    OL_CHECK(states[i].size() == state_->state_tensors[i]->bytes(capacity),
             "a state of the wrong size: " + state_->state_tensors[i]->name);
  state_->states = std::move(states);
  state_->position = position;
  state_->capacity = capacity;
}

double Oracle::margin(std::span<const std::byte> token, double enough) {
  State& s = *state_;
  s.load(token);
  // Ops after the last one that chooses cannot matter.
  std::size_t end = s.views.size();
  while (end > 0 && !s.views[end - 1].kind->chooses) --end;
  double least = std::numeric_limits<double>::infinity();
  std::vector<State::Overwritten> overwritten;
  for (std::size_t i = 0; i < end && least >= enough; ++i) {
    s.remember(s.views[i], overwritten);
    const double margin = s.evaluate(s.views[i]);
    if (margin >= 0) least = std::min(least, margin);
  }
  s.restore(overwritten);
  return least;
}

OracleStep Oracle::step(std::span<const std::byte> token, bool with_probes) {
  State& s = *state_;
  s.load(token);
  OracleStep result;
  for (const OpView& view : s.views) {
    const double margin = s.evaluate(view);
    if (margin >= 0) result.margins.push_back(margin);
  }
  for (const Tensor* output : s.task.with(Role::output))
    result.outputs.push_back(encode(s.values.at(output->name), output->dtype));
  if (with_probes)
    for (const OpView& view : s.views)
      for (const Operand& operand : view.out)
        if (const auto found = s.values.find(operand.name); found != s.values.end())
          result.probes[found->first] = found->second;
  ++s.position;
  return result;
}

const std::vector<Bytes>& Oracle::states() const { return state_->states; }
std::int64_t Oracle::position() const { return state_->position; }

Result<DrawnToken> draw_token(Oracle& oracle, const Task& task, std::uint64_t seed, InputSet set, int step) {
  double best = -1;
  for (int draw = 0; draw < kDrawsMax; ++draw) {
    DrawnToken drawn{.token = {}, .draw = draw, .margin = 0};
    for (const Tensor* input : task.with(Role::input)) {
      Bytes bytes(input->bytes(0));
      fill_token(task, *input, seed, set, step, draw, bytes);
      drawn.token.insert(drawn.token.end(), bytes.begin(), bytes.end());
    }
    drawn.margin = oracle.margin(drawn.token, kRoutingMargin);
    if (drawn.margin >= kRoutingMargin) return drawn;
    best = std::max(best, drawn.margin);
  }
  return invalid("step " + std::to_string(step) + ": no token in " + std::to_string(kDrawsMax) +
                 " draws keeps every routed layer " + std::to_string(kRoutingMargin) + " from a tie (best " +
                 std::to_string(best) + ")");
}

}  // namespace onelaunch::tasks
