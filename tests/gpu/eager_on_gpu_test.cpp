// The eager kernels on a real GPU against the oracle, with sums in f32 and in f64, and how long a token takes. Prints
// one JSON line a case, and what the costliest launches take one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <span>

#include "tasks/eager.h"
#include "tests/gpu/gpu.h"
#include "tests/tasks/ops/block_reference.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/ops/nvrtc_ptx.h"

namespace onelaunch::tasks {
namespace {

constexpr int kSamples = 9, kSteps = 3, kRepeats = 20, kCostliest = 12;

class EagerOnGpu {
 public:
  EagerOnGpu(gpu::Gpu& device, const Chain& chain, const EagerPlan& plan)
      : device_(device), chain_(chain), plan_(plan) {
    for (const WeightArena::Place& place : weight_arena(chain.task).places)
      addresses_[place.tensor->name] = device.buffer(std::span(chain.weights).subspan(place.offset, place.bytes));
    const auto states = chain.task.with(Role::state);
    for (std::size_t i = 0; i < states.size(); ++i) addresses_[states[i]->name] = device.buffer(chain.states[i]);
    for (const Role role : {Role::input, Role::output})
      for (const Tensor* tensor : chain.task.with(role)) addresses_[tensor->name] = device.allocate(tensor->bytes(0));
    for (const EagerBuffer& buffer : plan.buffers) addresses_[buffer.name] = device.allocate(buffer.bytes);
    for (const EagerLaunch& launch : plan.launches) entries_.push_back(device.entry(launch.entry));
  }

  void step(const Bytes& token, std::int64_t position) {
    device_.write(addresses_.at(chain_.task.with(Role::input)[0]->name), token);
    position_ = static_cast<std::uint64_t>(position);
    run();
    device_.wait();
  }
  double token_us() {
    return median([this] { run(); });
  }
  // Of one launch, by how it is called: "moe.0.routed eager_11".
  std::vector<std::pair<double, std::string>> costs() {
    std::vector<std::pair<double, std::string>> found;
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const double us = median([&] {
        for (int repeat = 0; repeat < kRepeats; ++repeat) run(i);
      });
      found.emplace_back(us / kRepeats, plan_.launches[i].op + " " + plan_.launches[i].entry);
    }
    std::ranges::sort(found, std::greater<>());
    return found;
  }
  Vector values(const Tensor& tensor) {
    return decoded(device_.read(addresses_.at(tensor.name), tensor.bytes(chain_.capacity)), tensor.dtype);
  }

 private:
  void run() {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) run(i);
  }
  void run(std::size_t index) {
    const EagerLaunch& launch = plan_.launches[index];
    std::vector<std::uint64_t> words;
    for (const EagerArgument& argument : launch.arguments) words.push_back(word(argument));
    device_.launch(entries_[index], launch.grid, launch.block, launch.dynamic_smem, words);
  }
  std::uint64_t word(const EagerArgument& argument) const {
    if (argument.kind == EagerArgument::Kind::position) return position_;
    if (argument.kind == EagerArgument::Kind::capacity) return static_cast<std::uint64_t>(chain_.capacity);
    return addresses_.at(argument.buffer);
  }
  double median(const std::function<void()>& work) {
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(device_.time_us(work));
    std::ranges::sort(samples);
    return samples[kSamples / 2];
  }

  gpu::Gpu& device_;
  const Chain& chain_;
  const EagerPlan& plan_;
  std::map<std::string, std::uint64_t> addresses_;
  std::vector<CUfunction> entries_;
  std::uint64_t position_ = 0;
};

struct Case {
  const char* task;
  std::int64_t context;
  EagerSums sums;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.task << " " << one.context << (one.sums == EagerSums::f64 ? " f64" : " f32");
}

// The largest share of its tolerance that any output or state uses up after the chain.
double worst_share(const Chain& chain, EagerOnGpu& eager, Oracle& oracle) {
  double worst = 0;
  const auto compare_with = [&](const Tensor& tensor, const Bytes& want) {
    worst = std::max(
        worst, relative_error(eager.values(tensor), decoded(want, tensor.dtype)) / tolerance_of(chain.task, tensor));
  };
  for (int step = 0; step < kSteps; ++step) {
    const Result<DrawnToken> drawn = draw_token(oracle, chain.task, chain.seed + 2, chain.set, step);
    OL_CHECK(drawn.has_value(), drawn ? "" : drawn.error().message);
    eager.step(drawn->token, chain.context + step);
    const OracleStep want = oracle.step(drawn->token);
    const auto outputs = chain.task.with(Role::output);
    for (std::size_t i = 0; i < outputs.size(); ++i) compare_with(*outputs[i], want.outputs[i]);
  }
  const auto states = chain.task.with(Role::state);
  for (std::size_t i = 0; i < states.size(); ++i) compare_with(*states[i], oracle.states()[i]);
  return worst;
}

class EagersOnGpu : public testing::TestWithParam<Case> {};

TEST_P(EagersOnGpu, AgreeWithTheOracle) {
  if (const std::string why = gpu::Gpu::missing(); !why.empty()) GTEST_SKIP() << "NO GPU: " << why;
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const Case& one = GetParam();
  const Chain chain(one.task, "full", InputSet::strict, one.context);
  const EagerPlan plan = eager_plan(chain.task, chain.capacity, one.sums);
  const CompiledPtx compiled = compile_to_ptx(*nvrtc, plan.source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  gpu::Gpu device;
  device.load(compiled.ptx);
  EagerOnGpu eager(device, chain, plan);
  Oracle oracle = chain.oracle(8);
  const double share = worst_share(chain, eager, oracle);
  EXPECT_LT(share, one.sums == EagerSums::f64 ? 0.25 : 0.5);
  eager.token_us();
  std::printf(
      "{\"gpu\": \"%s\", \"task\": \"%s\", \"context\": %lld, \"sums\": \"%s\", \"worst_share_of_tolerance\": %.3g, "
      "\"token_us\": %.1f, \"launches\": %zu}\n",
      device.name().c_str(), one.task, static_cast<long long>(one.context), one.sums == EagerSums::f64 ? "f64" : "f32",
      share, eager.token_us(), plan.launches.size());
  const auto costs = eager.costs();
  for (std::size_t i = 0; i < std::min<std::size_t>(kCostliest, costs.size()); ++i)
    std::printf("  %8.2f us  %s\n", costs[i].first, costs[i].second.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Library, EagersOnGpu,
    testing::Values(Case{"rmsnorm_linear", 0, EagerSums::f32}, Case{"rmsnorm_linear", 0, EagerSums::f64},
                    Case{"llama_block_decode", 512, EagerSums::f32}, Case{"llama_block_decode", 512, EagerSums::f64},
                    Case{"kimi_linear_decode", 2048, EagerSums::f32}, Case{"kimi_linear_decode", 2048, EagerSums::f64},
                    Case{"kimi_linear_decode", 16384, EagerSums::f32},
                    Case{"kimi_linear_decode", 16384, EagerSums::f64}));

}  // namespace
}  // namespace onelaunch::tasks
