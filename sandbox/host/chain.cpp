#include "sandbox/host/chain.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/grade_plan.h"
#include "sandbox/protocol/poison.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Bytes;
using tasks::Finding;
using tasks::Role;
using tasks::Tensor;

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }
std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Elements that still hold the poison. A right answer is a number, so it never equals it.
// `base`: index of the first element compared.
std::vector<Finding> unwritten(const Tensor& tensor, std::span<const std::byte> got, std::span<const std::byte> poison,
                               std::size_t base) {
  const std::size_t size = tasks::element_bytes(tensor.dtype);
  std::size_t count = 0, first = 0;
  for (std::size_t i = 0; i * size < got.size(); ++i) {
    if (std::memcmp(&got[i * size], &poison[i * size], size) != 0) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return {};
  Finding finding;
  finding.ok = false;
  finding.test = "unwritten";
  finding.tensor = tensor.name;
  finding.index = base + first;
  finding.got = static_cast<double>(count);
  finding.detail = std::to_string(count) + " of " + std::to_string(got.size() / size) + " new elements of " + tensor.name +
                   " were never written, the first is " + tasks::element_name(tensor, base + first);
  return {finding};
}

}  // namespace

Chain::Chain(const tasks::Task& task, Reference& reference, const ChainSpec& spec)
    : task_(task), reference_(reference), spec_(spec) {
  if (!spec.on_gpu) before_ = drawn_states(task, spec.start);
  for (std::size_t i = 0; i < task.with(Role::state).size(); ++i) unwritten_.push_back(unwritten_rows(task, i, spec.start));
}

Result<std::vector<RunJob>> Chain::begin() {
  if (auto reset = reference_.reset(spec_.start); !reset) return because(reset.error());
  if (spec_.on_gpu) return states_on_device(task_, spec_.start, buffer_name);
  RunJob job;
  const std::vector<const Tensor*> tensors = task_.with(Role::state);
  for (std::size_t i = 0; i < tensors.size(); ++i) job.writes.push_back({buffer_name(*tensors[i]), 0, text_of(before_[i])});
  return std::vector<RunJob>{std::move(job)};
}

Result<std::vector<BufferWrite>> Chain::next_inputs() {
  ++step_;
  auto drawn = reference_.draw(step_, 0);
  if (!drawn) return because(drawn.error());
  token_ = std::move(*drawn);
  std::vector<BufferWrite> writes;
  std::string rest = text_of(token_);
  for (const Tensor* input : task_.with(Role::input)) {
    writes.push_back({buffer_name(*input), 0, rest.substr(0, input->bytes(0))});
    rest.erase(0, input->bytes(0));
  }
  poison_.clear();
  for (const Tensor* output : task_.with(Role::output)) {
    Bytes bytes(output->bytes(0));
    fill_poison(bytes, derived_seed(spec_.start.seed, static_cast<std::uint64_t>(step_) * 64 + poison_.size()));
    writes.push_back({buffer_name(*output), 0, text_of(bytes)});
    poison_.push_back(std::move(bytes));
  }
  return writes;
}

std::vector<BufferRead> Chain::reads() const {
  std::vector<BufferRead> reads;
  for (const Role role : {Role::output, Role::state})
    for (const Tensor* tensor : task_.with(role))
      if (role == Role::output || compares_states())
        reads.push_back({buffer_name(*tensor), 0, tensor->bytes(spec_.start.capacity), false});
  for (const Tensor* input : task_.with(Role::input)) reads.push_back({buffer_name(*input), 0, input->bytes(0), false});
  return reads;
}

Result<void> Chain::expect() {
  auto outputs = reference_.step();
  if (!outputs) return because(outputs.error());
  expected_outputs_ = std::move(*outputs);
  if (!compares_states()) return {};
  auto states = reference_.states();
  if (!states) return because(states.error());
  expected_states_ = std::move(*states);
  return {};
}

// The rows that the steps so far had to append.
std::vector<Finding> Chain::never_written(std::size_t state, const Tensor& tensor, std::span<const std::byte> got) const {
  if (!tensor.is_cache()) return {};
  const std::size_t row = tensor.bytes(1), first = row * static_cast<std::size_t>(spec_.start.context);
  const std::size_t count = row * static_cast<std::size_t>(step_ + 1);
  return unwritten(tensor, got.subspan(first, count), std::span(unwritten_[state]).first(count),
                   first / tasks::element_bytes(tensor.dtype));
}

// The reference changes no old row of a cache either, so its own tell what they were.
std::span<const std::byte> Chain::before_state(std::size_t state) const {
  if (!before_.empty()) return before_[state];
  return task_.with(Role::state)[state]->is_cache() ? std::span<const std::byte>(expected_states_[state]) : std::span<const std::byte>();
}

// What an output was added to, as far as shapes tell: then the update is judged apart from it.
std::span<const std::byte> Chain::residual_of(const Tensor& output) const {
  const std::vector<const Tensor*> inputs = task_.with(Role::input);
  const bool alike = inputs.size() == 1 && inputs[0]->shape == output.shape && inputs[0]->dtype == output.dtype;
  return alike ? std::span<const std::byte>(token_) : std::span<const std::byte>();
}

// The step's inputs as they are after the launch. `read`: of all inputs, in task order.
std::vector<Finding> Chain::written_inputs(std::span<const std::string> read) const {
  std::vector<Finding> findings;
  std::span<const std::byte> token = token_;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const Tensor& input = *task_.with(Role::input)[i];
    const std::span<const std::byte> was = token.first(input.bytes(0)), got = as_bytes(read[i]);
    OL_CHECK(got.size() == was.size(), "the bytes read are those of the tensor");
    token = token.subspan(was.size());
    const auto differs = std::ranges::mismatch(got, was).in1;
    if (differs == got.end()) continue;
    const auto element = static_cast<std::size_t>(differs - got.begin()) / tasks::element_bytes(input.dtype);
    findings.push_back({.ok = false, .test = "input_written", .tensor = input.name, .index = element,
                        .over = std::numeric_limits<double>::infinity(),
                        .detail = tasks::element_name(input, element) + " was changed: an input may only be read"});
  }
  return findings;
}

std::vector<Finding> Chain::judge(const std::vector<std::string>& read) const {
  const std::vector<const Tensor*> outputs = task_.with(Role::output), states = task_.with(Role::state);
  const std::size_t compared = outputs.size() + (compares_states() ? states.size() : 0);
  OL_CHECK(read.size() == compared + task_.with(Role::input).size(), "one read for each tensor compared");
  std::vector<tasks::TensorView> views;
  std::vector<Finding> findings = written_inputs(std::span(read).subspan(compared));
  for (std::size_t i = 0; i < compared; ++i) {
    const auto got = as_bytes(read[i]);
    const bool output = i < outputs.size();
    const Tensor* tensor = output ? outputs[i] : states[i - outputs.size()];
    const Bytes& want = output ? expected_outputs_[i] : expected_states_[i - outputs.size()];
    OL_CHECK(got.size() == want.size(), "the bytes read are those of the tensor");
    const std::vector<Finding> left = output ? unwritten(*tensor, got, poison_[i], 0)
                                             : never_written(i - outputs.size(), *tensor, got);
    findings.insert(findings.end(), left.begin(), left.end());
    views.push_back({tensor, got, want, output ? residual_of(*tensor) : before_state(i - outputs.size())});
  }
  // What was never written also compares as a NaN, which says less.
  if (!findings.empty()) return findings;
  // All tests that passed, so that a grade shows how close each came; of a failure the decisive ones.
  findings = tasks::measure(task_, views, spec_.start.context, position() + 1);
  if (std::ranges::all_of(findings, &Finding::ok)) return findings;
  return tasks::compare(task_, views, spec_.start.context, position() + 1);
}

}  // namespace onelaunch::sandbox
