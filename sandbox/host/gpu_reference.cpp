#include "sandbox/host/gpu_reference.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/bfloat16.h"
#include "base/check.h"
#include "sandbox/host/candidate_buffers.h"
#include "sandbox/host/eager_order.h"
#include "sandbox/host/generation.h"
#include "tasks/generator.h"

namespace onelaunch::sandbox {
namespace {

using tasks::Bytes;
using tasks::Role;
using tasks::Tensor;

constexpr double kCallS = 60;  // any one message; far more than it takes
constexpr const char* kBefore = "before ";

std::string text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// What separates the last logit that is chosen from the first that is not.
double margin_of(const tasks::EagerRouting& routing, const std::string& bytes) {
  std::vector<double> logits(static_cast<std::size_t>(routing.experts));
  const std::size_t size = tasks::element_bytes(routing.dtype);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (routing.dtype == tasks::DType::bf16) {
      std::uint16_t word = 0;
      std::memcpy(&word, bytes.data() + i * size, size);
      logits[i] = bf16_to_float(word);
    } else {
      float value = 0;
      std::memcpy(&value, bytes.data() + i * size, size);
      logits[i] = value;
    }
  }
  const auto k = static_cast<std::size_t>(routing.k);
  if (k >= logits.size()) return std::numeric_limits<double>::infinity();
  std::ranges::sort(logits, std::greater<>());
  return logits[k - 1] - logits[k];
}

// States that a step overwrites are kept as they were before it, so that it can be tried again.
std::vector<BufferCopy> copies_of_states(const tasks::Task& task, bool back) {
  std::vector<BufferCopy> copies;
  for (const Tensor* state : task.with(Role::state)) {
    if (state->is_cache()) continue;
    const std::string now = buffer_name(*state), before = kBefore + now;
    copies.push_back({back ? before : now, 0, back ? now : before, 0, state->bytes(0)});
  }
  return copies;
}

}  // namespace

GpuReference::GpuReference(Parts parts, DeviceSession session)
    : parts_(std::move(parts)),
      session_(std::move(session)),
      plan_(tasks::eager_plan(parts_.task, parts_.capacity, tasks::EagerSums::f64)) {}

Result<std::unique_ptr<GpuReference>> GpuReference::start(Parts parts, DeviceSession session, Deadline deadline) {
  std::unique_ptr<GpuReference> reference(new GpuReference(std::move(parts), std::move(session)));
  reference->deadline_ = deadline;
  if (auto done = reference->set_up(deadline); !done) return because(done.error(), "the reference");
  return reference;
}

void GpuReference::watch(const Interrupts::Scope& interrupts, Deadline deadline) {
  session_.watch(interrupts);
  deadline_ = deadline;
}

Result<void> GpuReference::set_up(Deadline deadline) {
  SetupJob job;
  job.modules = {parts_.generator, parts_.eager, parts_.harness};
  job.buffers = parts_.layout.weight_buffers();
  job.buffers.push_back(generator_table());
  for (const Tensor& tensor : parts_.task.tensors) {
    if (tensor.role == Role::weight) continue;
    job.buffers.push_back({buffer_name(tensor), tensor.bytes(parts_.capacity), false, 0});
    if (tensor.role == Role::state && !tensor.is_cache())
      job.buffers.push_back({kBefore + buffer_name(tensor), tensor.bytes(0), false, 0});
  }
  for (const tasks::EagerBuffer& buffer : plan_.buffers)
    job.buffers.push_back({eager_buffer(parts_.task, buffer.name), buffer.bytes, false, 0});
  auto said = session_.set_up(job, -1, deadline, kCallS);
  if (!said) return because(said.error());
  if (const Outcome* outcome = std::get_if<Outcome>(&*said)) return fail(Error::Kind::internal, explain(*outcome));
  if (auto ran = run(generation(parts_.task, parts_.layout, parts_.generator_device, parts_.weight_seed)); !ran)
    return because(ran.error(), "making the weights");
  return {};
}

Result<RunReply> GpuReference::run(RunJob job) {
  auto said = session_.run(std::move(job), deadline_, kCallS, {});
  usable_ = said && std::holds_alternative<RunReply>(*said);
  if (!said) return because(said.error());
  if (const Outcome* outcome = std::get_if<Outcome>(&*said))
    return fail(Error::Kind::worker_lost, "the reference kernels: " + explain(*outcome));
  return std::get<RunReply>(std::move(*said));
}

Result<void> GpuReference::reset(const ChainStart& start) {
  OL_CHECK(start.capacity <= parts_.capacity, "the caches of a chain fit those of the reference");
  start_ = start, position_ = start.context, tried_ = false;
  for (RunJob& job : states_on_device(parts_.task, start, buffer_name))
    if (auto ran = run(std::move(job)); !ran) return because(ran.error());
  return {};
}

std::vector<LaunchOrder> GpuReference::token_launches(int weight_set) const {
  const Redirections places = parts_.layout.weights({start_.inputs, weight_set});
  std::vector<LaunchOrder> orders;
  for (const tasks::EagerLaunch& launch : plan_.launches) {
    orders.push_back(eager_order(parts_.task, launch, position_, parts_.capacity));
    redirect(orders.back(), places);
  }
  return orders;
}

// Runs up to where a layer chooses and looks how clearly it does.
Result<bool> GpuReference::route(RunJob job, const tasks::EagerRouting& routing) {
  job.reads.push_back({eager_buffer(parts_.task, routing.logits), 0,
                       static_cast<std::uint64_t>(routing.experts) * tasks::element_bytes(routing.dtype), false});
  auto ran = run(std::move(job));
  if (!ran) return because(ran.error());
  return margin_of(routing, ran->reads.back()) >= tasks::kRoutingMargin;
}

// Layer by layer: most tokens fail at one of the first, and then the rest need not be computed.
Result<bool> GpuReference::attempt(const Bytes& token) {
  RunJob job;
  job.copies = copies_of_states(parts_.task, tried_);
  std::string rest = text_of(token);
  for (const Tensor* input : parts_.task.with(Role::input)) {
    job.writes.push_back({buffer_name(*input), 0, rest.substr(0, input->bytes(0))});
    rest.erase(0, input->bytes(0));
  }
  tried_ = true;
  std::uint64_t done = 0;
  for (const tasks::EagerRouting& routing : plan_.routings) {
    job.again = {done, routing.launches - done};
    auto clear = route(std::exchange(job, {}), routing);
    if (!clear || !*clear) return clear;
    done = routing.launches;
  }
  job.again = {done, plan_.launches.size() - done};
  for (const Tensor* output : parts_.task.with(Role::output))
    job.reads.push_back({buffer_name(*output), 0, output->bytes(0), false});
  auto ran = run(std::move(job));
  if (!ran) return because(ran.error());
  outputs_.clear();
  for (const std::string& read : ran->reads) outputs_.push_back(bytes_of(read));
  return true;
}

Result<Bytes> GpuReference::draw(int step, int weight_set) {
  RunJob launches;
  launches.keep = token_launches(weight_set);
  if (auto kept = run(std::move(launches)); !kept) return because(kept.error());
  for (int draw = 0; draw < tasks::kDrawsMax; ++draw) {
    Bytes token;
    for (const Tensor* input : parts_.task.with(Role::input)) {
      Bytes bytes(input->bytes(0));
      tasks::fill_token(parts_.task, *input, start_.seed, start_.inputs, step, draw, bytes);
      token.insert(token.end(), bytes.begin(), bytes.end());
    }
    auto clear = attempt(token);
    if (!clear) return because(clear.error());
    if (*clear) return token;
  }
  return invalid("step " + std::to_string(step) + ": no token in " + std::to_string(tasks::kDrawsMax) +
                 " draws keeps every routed layer away from a tie");
}

Result<std::vector<Bytes>> GpuReference::step() {
  OL_CHECK(tried_, "a step is drawn before it is taken");
  tried_ = false;
  ++position_;
  return outputs_;
}

Result<std::vector<ChainSample>> GpuReference::time_tokens(std::int64_t context, bool graph, int samples) {
  if (auto begun = reset({tasks::InputSet::nominal, context, parts_.capacity, parts_.weight_seed}); !begun) return because(begun.error());
  if (auto first = draw(0, 0); !first) return because(first.error());  // a token that is there to be read
  TimeJob job;
  for (int set = 0; set < parts_.layout.sets(); ++set) {
    job.chains.emplace_back();
    job.chains.back().copies = copies_of_states(parts_.task, true);
    job.chains.back().launches = token_launches(set);
  }
  for (int i = 0; i < samples; ++i) job.order.push_back(static_cast<std::uint32_t>(i % parts_.layout.sets()));
  job.graph = graph;
  job.seconds_max = kCallS;
  auto said = session_.time(std::move(job), deadline_);
  usable_ = said && std::holds_alternative<TimeReply>(*said);
  if (!said) return because(said.error());
  if (const Outcome* outcome = std::get_if<Outcome>(&*said))
    return fail(Error::Kind::worker_lost, "the reference kernels: " + explain(*outcome));
  return std::get<TimeReply>(std::move(*said)).samples;
}

// Caches are as large on the device as the longest chain needs; a chain's own capacity may be less.
Result<std::vector<Bytes>> GpuReference::states() {
  RunJob job;
  for (const Tensor* state : parts_.task.with(Role::state))
    job.reads.push_back({buffer_name(*state), 0, state->bytes(start_.capacity), false});
  auto ran = run(std::move(job));
  if (!ran) return because(ran.error());
  std::vector<Bytes> states;
  for (const std::string& read : ran->reads) states.push_back(bytes_of(read));
  return states;
}

Result<std::vector<std::string>> GpuReference::weight_digests(tasks::InputSet inputs) {
  RunJob job;
  for (const Tensor* weight : parts_.task.with(Role::weight)) {
    const Place place = parts_.layout.weight(*weight, {inputs, 0});
    job.reads.push_back({place.buffer, place.addend, weight->bytes(0), true});
  }
  auto ran = run(std::move(job));
  if (!ran) return because(ran.error());
  return ran->reads;
}

}  // namespace onelaunch::sandbox
