#include "sandbox/host/timed_case.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "sandbox/host/candidate_buffers.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Bytes;
using tasks::InputSet;
using tasks::Role;
using tasks::Tensor;

// Each step's token and output begins where a tensor may begin.
std::size_t stride(const Tensor& tensor) { return (tensor.bytes(0) + 255) / 256 * 256; }

std::string output_ring(const Tensor& tensor) { return "timed " + buffer_name(tensor); }

// Where an input may come from when a loop feeds itself.
const Tensor* fed_back(const tasks::Task& task, const Tensor& input) {
  const std::vector<const Tensor*> inputs = task.with(Role::input), outputs = task.with(Role::output);
  const bool alike = inputs.size() == 1 && outputs.size() == 1 && outputs[0]->shape == input.shape &&
                     outputs[0]->dtype == input.dtype;
  return alike ? outputs[0] : nullptr;
}

}  // namespace

std::string TimedCase::name(const char* what, const Tensor& tensor) const {
  return std::string(what) + (spec_.inputs == InputSet::strict ? " strict " : " nominal ") + std::to_string(spec_.context) +
         " " + buffer_name(tensor);
}

std::vector<BufferSpec> TimedCase::buffers() const {
  std::vector<BufferSpec> buffers;
  for (const Tensor* input : task_.with(Role::input))
    buffers.push_back({name("timed", *input), stride(*input) * kChainLengthMax, false, 0});
  for (const Tensor* state : task_.with(Role::state)) {
    buffers.push_back({name("timed", *state), state->bytes(capacity()), false, 0});
    buffers.push_back({name("pristine", *state), state->bytes(kChainLengthMax), false, 0});
  }
  return buffers;
}

std::vector<BufferSpec> TimedCase::output_buffers(const tasks::Task& task) {
  std::vector<BufferSpec> buffers;
  for (const Tensor* output : task.with(Role::output))
    buffers.push_back({output_ring(*output), stride(*output) * kChainLengthMax, false, 0});
  return buffers;
}

Result<void> TimedCase::expect(Reference& reference, int length, int sets) {
  OL_CHECK(length <= kChainLengthMax, "a chain fits its buffers");
  length_ = length;
  tokens_.clear(), outputs_.clear();
  if (auto reset = reference.reset(start()); !reset) return because(reset.error());
  for (int i = 0; i < length; ++i) {
    auto token = reference.draw(i, i % sets);
    if (!token) return because(token.error());
    tokens_.push_back(std::move(*token));
    auto outputs = reference.step();
    if (!outputs) return because(outputs.error());
    outputs_.push_back(std::move(*outputs));
  }
  auto after = reference.states();
  if (!after) return because(after.error());
  after_ = std::move(*after);
  return {};
}

std::vector<RunJob> TimedCase::uploads() const {
  std::vector<RunJob> jobs = states_on_device(task_, start(), [&](const Tensor& state) { return name("timed", state); });
  RunJob& last = jobs.emplace_back();
  std::size_t offset = 0;
  for (const Tensor* input : task_.with(Role::input)) {
    std::string ring(stride(*input) * tokens_.size(), '\0');
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      std::memcpy(ring.data() + i * stride(*input), tokens_[i].data() + offset, input->bytes(0));
    offset += input->bytes(0);
    last.writes.push_back({name("timed", *input), 0, std::move(ring)});
  }
  for (const Tensor* state : task_.with(Role::state)) {
    // Of a cache only the rows that a chain appends need to be brought back.
    const std::size_t first = state->is_cache() ? state->bytes(1) * static_cast<std::size_t>(spec_.context) : 0;
    last.copies.push_back({name("timed", *state), first, name("pristine", *state), 0, state->bytes(kChainLengthMax)});
  }
  return jobs;
}

Redirections TimedCase::places(int step, Loop loop) const {
  Redirections places;
  const auto index = static_cast<std::size_t>(step);
  for (const Tensor* output : task_.with(Role::output))
    places[buffer_name(*output)] = {output_ring(*output), index * stride(*output)};
  for (const Tensor* input : task_.with(Role::input)) {
    const Tensor* source = loop == Loop::single_set && step > 0 ? fed_back(task_, *input) : nullptr;
    places[buffer_name(*input)] = source != nullptr ? Place{output_ring(*source), (index - 1) * stride(*source)}
                                                    : Place{name("timed", *input), index * stride(*input)};
  }
  for (const Tensor* state : task_.with(Role::state)) places[buffer_name(*state)] = {name("timed", *state), 0};
  return places;
}

TimedChain TimedCase::chain(const GpuLayout& layout, const Arm& arm, Loop loop, int length, std::uint64_t poison_seed) const {
  OL_CHECK(length <= length_ && static_cast<std::size_t>(length) <= arm.orders.size(), "as many steps as were drawn");
  TimedChain chain;
  for (const Tensor* state : task_.with(Role::state)) {
    const std::size_t row = state->is_cache() ? state->bytes(1) : 0;
    const std::size_t bytes = state->is_cache() ? row * static_cast<std::size_t>(length) : state->bytes(0);
    chain.copies.push_back({name("pristine", *state), 0, name("timed", *state), row * static_cast<std::size_t>(spec_.context), bytes});
  }
  for (const Tensor* output : task_.with(Role::output)) {
    chain.fills.push_back({output_ring(*output), true, poison_seed});
    chain.reads.push_back({output_ring(*output), 0, stride(*output) * static_cast<std::size_t>(length), false});
  }
  for (int i = 0; i < length; ++i) {
    const int set = loop == Loop::rotated ? i % layout.sets() : 0;
    LaunchOrder order = arm.orders[static_cast<std::size_t>(i)];
    redirect(order, layout.weights({spec_.inputs, set}));
    redirect(order, arm.places.at(static_cast<std::size_t>(set)));
    redirect(order, places(i, loop));
    chain.launches.push_back(std::move(order));
  }
  return chain;
}

std::vector<tasks::Finding> TimedCase::judge(const std::vector<std::string>& reads, Loop loop) const {
  const std::vector<const Tensor*> outputs = task_.with(Role::output);
  OL_CHECK(reads.size() == outputs.size(), "one read for each output");
  std::vector<tasks::Finding> findings;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t steps = loop == Loop::single_set ? 1 : reads[i].size() / stride(*outputs[i]);
    for (std::size_t step = 0; step < steps; ++step) {
      const auto got = std::as_bytes(std::span(reads[i])).subspan(step * stride(*outputs[i]), outputs[i]->bytes(0));
      const Tensor* residual = fed_back(task_, *task_.with(Role::input).front());
      const std::span<const std::byte> before = residual == outputs[i] ? std::span<const std::byte>(tokens_[step])
                                                                       : std::span<const std::byte>();
      for (tasks::Finding& finding : tasks::compare(task_, {{outputs[i], got, outputs_[step][i], before}}, 0, 0))
        findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<BufferRead> TimedCase::state_reads() const {
  std::vector<BufferRead> reads;
  for (const Tensor* state : task_.with(Role::state)) reads.push_back({name("timed", *state), 0, state->bytes(capacity()), false});
  return reads;
}

std::vector<tasks::Finding> TimedCase::judge_states(const std::vector<std::string>& reads) const {
  const std::vector<const Tensor*> states = task_.with(Role::state);
  OL_CHECK(reads.size() == states.size(), "one read for each state");
  std::vector<tasks::TensorView> views;
  for (std::size_t i = 0; i < states.size(); ++i)
    // The reference changes no old row of a cache, so its own tell what they were.
    views.push_back({states[i], std::as_bytes(std::span(reads[i])), after_[i], states[i]->is_cache() ? std::span<const std::byte>(after_[i]) : std::span<const std::byte>()});
  return tasks::compare(task_, views, spec_.context, spec_.context + length_);
}

}  // namespace onelaunch::sandbox
