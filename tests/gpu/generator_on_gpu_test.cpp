// Weights and states made on a real GPU against those made on the CPU, every bit at full size, and how long a set
// takes. Prints one JSON line a case.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <thread>

#include "tasks/device_generator.h"
#include "tests/gpu/gpu.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/ops/nvrtc_ptx.h"

namespace onelaunch::tasks {
namespace {

constexpr int kSamples = 7;
constexpr std::uint64_t kSeeds[] = {7, 0x123456789abcdef0};
constexpr InputSet kSets[] = {InputSet::nominal, InputSet::strict};

// Weights and states of one task on the device.
class GeneratorOnGpu {
 public:
  GeneratorOnGpu(gpu::Gpu& device, const Task& task, std::int64_t capacity) : device_(device) {
    table_ = device.buffer(generator_table());
    for (const Tensor& tensor : task.tensors) addresses_[tensor.name] = device.allocate(tensor.bytes(capacity));
  }

  void run(const std::vector<GeneratorLaunch>& launches, std::uint64_t seed) {
    for (const GeneratorLaunch& launch : launches) {
      std::vector<std::uint64_t> words;
      for (const GeneratorArgument& argument : launch.arguments) words.push_back(word(argument, seed));
      device_.launch(device_.entry(launch.entry), launch.grid, launch.block, static_cast<unsigned>(launch.dynamic_smem),
                     words);
    }
  }
  double median_us(const std::vector<GeneratorLaunch>& launches) {
    std::vector<double> samples;
    for (int i = 0; i < kSamples; ++i) samples.push_back(device_.time_us([&] { run(launches, 7); }));
    std::ranges::sort(samples);
    return samples[kSamples / 2];
  }
  Bytes read(const Tensor& tensor, std::size_t bytes) { return device_.read(addresses_.at(tensor.name), bytes); }

 private:
  std::uint64_t word(const GeneratorArgument& argument, std::uint64_t seed) const {
    using Kind = GeneratorArgument::Kind;
    if (argument.kind == Kind::tensor) return addresses_.at(argument.tensor);
    if (argument.kind == Kind::table) return table_;
    return argument.kind == Kind::seed ? seed : argument.literal;
  }

  gpu::Gpu& device_;
  std::uint64_t table_ = 0;
  std::map<std::string, std::uint64_t> addresses_;
};

struct Case {
  const char* task;
  std::int64_t context;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.task << " " << one.context; }

void expect_weights(GeneratorOnGpu& generator, const Task& task, std::uint64_t seed, InputSet set) {
  const WeightArena arena = weight_arena(task);
  Bytes want(arena.bytes);
  fill_weights(task, seed, set, want, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  generator.run(weight_launches(task, set), seed);
  for (const WeightArena::Place& place : arena.places)
    EXPECT_TRUE(std::ranges::equal(generator.read(*place.tensor, place.bytes),
                                   std::span(want).subspan(place.offset, place.bytes)))
        << place.tensor->name << " of seed " << seed;
}

void expect_states(GeneratorOnGpu& generator, const Task& task, std::uint64_t seed, InputSet set, std::int64_t context,
                   std::int64_t capacity) {
  for (const Tensor* state : task.with(Role::state)) {
    Bytes want(state->bytes(capacity));
    fill_tensor(task, *state, seed, set, context, want);
    generator.run({tensor_launch(task, *state, set, context, capacity)}, seed);
    EXPECT_TRUE(generator.read(*state, want.size()) == want) << state->name << " of seed " << seed;
  }
}

class GeneratorsOnGpu : public testing::TestWithParam<Case> {};

TEST_P(GeneratorsOnGpu, DrawTheBitsOfTheCpu) {
  if (const std::string why = gpu::Gpu::missing(); !why.empty()) GTEST_SKIP() << "NO GPU: " << why;
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const CompiledPtx compiled = compile_to_ptx(*nvrtc, generator_source());
  ASSERT_TRUE(compiled.ok) << compiled.log;
  gpu::Gpu device;
  device.load(compiled.ptx);
  const Task task = library_task(GetParam().task, "full");
  const std::int64_t context = GetParam().context, capacity = context + 33;
  GeneratorOnGpu generator(device, task, capacity);
  for (const std::uint64_t seed : kSeeds)
    for (const InputSet set : kSets) {
      expect_weights(generator, task, seed, set);
      expect_states(generator, task, seed, set, context, capacity);
    }
  std::vector<GeneratorLaunch> states;
  for (const Tensor* state : task.with(Role::state))
    states.push_back(tensor_launch(task, *state, InputSet::strict, context, capacity));
  const std::vector<GeneratorLaunch> weights = weight_launches(task, InputSet::strict);
  std::printf(
      "{\"gpu\": \"%s\", \"task\": \"%s\", \"context\": %lld, \"weight_bytes\": %zu, \"equal\": %s, \"set_ms\": %.3f, "
      "\"launches\": %zu, \"states_ms\": %.3f, \"samples\": %d}\n",
      device.name().c_str(), GetParam().task, static_cast<long long>(context), weight_arena(task).bytes,
      testing::Test::HasFailure() ? "false" : "true", generator.median_us(weights) / 1e3, weights.size(),
      generator.median_us(states) / 1e3, kSamples);
}

INSTANTIATE_TEST_SUITE_P(Library, GeneratorsOnGpu,
                         testing::Values(Case{"rmsnorm_linear", 0}, Case{"llama_block_decode", 512},
                                         Case{"kimi_linear_decode", 16384}));

}  // namespace
}  // namespace onelaunch::tasks
