#include "tests/gpu/cuda_bench.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/bfloat16.h"
#include "sandbox/host/harness_kernels.h"
#include "sandbox/worker/compile.h"
#include "tasks/catalog.h"

namespace onelaunch::gpu {
namespace {

std::string hostile_folder() { return std::filesystem::exists("tests/hostile") ? "tests/hostile" : ONELAUNCH_BUILT_HOSTILE; }

}  // namespace
}  // namespace onelaunch::gpu

#define ONELAUNCH_HOSTILE ::onelaunch::gpu::hostile_folder()
#include "tests/sandbox/host/hostile_kernels.h"

namespace onelaunch::gpu {
namespace {

using namespace sandbox;
using tasks::Role;

constexpr double kAnswerS = 60;

template <class T>
T valued(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// Small numbers without a pattern, the same everywhere.
std::string bf16_numbers(std::size_t bytes, std::uint32_t seed) {
  std::string content(bytes, '\0');
  for (std::size_t i = 0; i + 1 < bytes; i += 2) {
    seed = seed * 1664525 + 1013904223;
    const std::uint16_t word = float_to_bf16(static_cast<float>(seed >> 16) / 65536.0f - 0.5f);
    std::memcpy(content.data() + i, &word, 2);
  }
  return content;
}

std::uint32_t seed_of(const std::string& tensor) { return static_cast<std::uint32_t>(tensor.size()) * 977 + static_cast<unsigned char>(tensor[0]); }

}  // namespace

std::string hostile(const std::string& name) { return hostile_kernel(name); }

std::filesystem::path worker_path() {
  const std::filesystem::path found = find_worker();
  return std::filesystem::exists(found) ? found : std::filesystem::path(ONELAUNCH_BUILT_WORKER);
}

CudaWorker::CudaWorker(const std::string& role)
    : process_(valued(WorkerProcess::spawn({worker_path(), role}, clock_))),
      task_(valued(tasks::load_task("rmsnorm_linear", "tiny"))),
      nvrtc_(valued(worker::Nvrtc::load())) {}

std::string CudaWorker::call(const std::string& body) {
  Answer answer = process_->call(body, -1, Deadline::after(clock_, Seconds(kAnswerS)), scope_, "asking");
  if (std::string* said = std::get_if<std::string>(&answer)) return std::move(*said);
  if (const Crashed* crashed = std::get_if<Crashed>(&answer)) throw std::runtime_error("the worker ended: " + crashed->how);
  throw std::runtime_error("the worker did not answer");
}

DeviceFacts CudaWorker::facts() { return valued(decode_device_facts(call(encode(DeviceFacts())))); }

std::string CudaWorker::cubin_of(const std::string& source, const std::string& header) {
  CompileJob job;
  job.source = source, job.header = header;
  job.options = {"--gpu-architecture=" + target_, "--std=c++20"};
  CompileReply reply = worker::compile(nvrtc_, nvrtc_.include, job);
  if (reply.status != CompileReply::Status::compiled) throw std::runtime_error(reply.log + reply.how);
  return std::move(reply.cubin);
}

SetupReply CudaWorker::set_up(const Kernel& kernel) {
  const DeviceFacts device = facts();
  if (!device.problem.empty()) throw std::runtime_error(device.problem);
  target_ = device.target;
  kernel_ = kernel;
  const std::string header = tasks::candidate_header(task_);
  SetupJob job;
  job.target = target_;
  job.modules = {{"candidate", "", cubin_of(kernel.source, header)}, {kHarnessModule, "", cubin_of(harness_source(), header)}};
  for (const tasks::Tensor& tensor : task_.tensors) job.buffers.push_back({tensor.name, tensor.bytes(0), false, 0});
  for (const char* name : {"sync", "scratch", "prepared"}) job.buffers.push_back({name, kSlackBytes, false, 0});
  setup_ = job;
  SetupReply reply = valued(decode_setup_reply(call(encode(job))));
  if (!reply.problem.empty()) return reply;
  RunJob inputs;
  for (const tasks::Tensor& tensor : task_.tensors)
    if (tensor.role != Role::output) inputs.writes.push_back({tensor.name, 0, bf16_numbers(tensor.bytes(0), seed_of(tensor.name))});
  for (const tasks::Tensor* weight : task_.with(Role::weight)) inputs.seals.push_back(weight->name);
  inputs.fills = {{"y", true, 1}, {"sync", false, 0}, {"scratch", true, 2}, {"prepared", false, 0}};
  reply.problem = run(inputs).problem;
  return reply;
}

RunReply CudaWorker::run(const RunJob& job) { return valued(decode_run_reply(call(encode(job)))); }
TimeReply CudaWorker::time(const TimeJob& job) { return valued(decode_time_reply(call(encode(job)))); }
CountReply CudaWorker::count(const CountJob& job) { return valued(decode_count_reply(call(encode(job)))); }

std::string CudaWorker::ended() {
  const Answer answer = process_->call(encode(DeviceFacts()), -1, Deadline::after(clock_, Seconds(kAnswerS)), scope_, "asking");
  if (const Crashed* crashed = std::get_if<Crashed>(&answer)) return crashed->how;
  return std::holds_alternative<std::string>(answer) ? "alive" : "it hangs";
}

LaunchOrder CudaWorker::order(double seconds_max) const {
  const tasks::ArgsLayout layout = tasks::args_layout(task_);
  LaunchOrder order;
  order.module = "candidate", order.entry = "megakernel";
  order.grid = kernel_.grid, order.block = kernel_.block, order.cluster = kernel_.cluster;
  order.seconds_max = seconds_max;
  order.parameters.resize(layout.bytes);
  for (const auto& [tensor, offset] : layout.pointers) order.relocations.push_back({offset, tensor, 0});
  order.relocations.push_back({layout.sync, "sync", 0});
  order.relocations.push_back({layout.scratch, "scratch", 0});
  order.relocations.push_back({layout.prepared, "prepared", 0});
  return order;
}

std::vector<double> CudaWorker::numbers(const std::string& bytes) {
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, bytes.data() + i, 2);
    values.push_back(static_cast<double>(bf16_to_float(word)));
  }
  return values;
}

std::vector<double> CudaWorker::expected() const {
  std::map<std::string, std::vector<double>> tensors;
  for (const tasks::Tensor& tensor : task_.tensors) tensors[tensor.name] = numbers(bf16_numbers(tensor.bytes(0), seed_of(tensor.name)));
  const std::vector<double>&token = tensors.at("token"), &norm = tensors.at("norm"), &w = tensors.at("w");
  double squares = 0;
  for (const double x : token) squares += x * x;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(token.size()) + 1e-6);
  std::vector<double> y(tensors.at("y").size());
  for (std::size_t row = 0; row < y.size(); ++row)
    for (std::size_t i = 0; i < token.size(); ++i) y[row] += token[i] * scale * norm[i] * w[row * token.size() + i];
  return y;
}

}  // namespace onelaunch::gpu
