// The library's seeds on a real GPU against the oracle, and how long a token takes there. Prints one JSON line a case:
// the single-set token loop, launches back to back between two events, nothing rotated and nothing flushed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tasks/compare.h"
#include "tasks/header.h"
#include "tests/gpu/gpu.h"
#include "tests/tasks/nvrtc_candidate.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/tunables.h"

namespace onelaunch::tasks {
namespace {

constexpr int kLaunchesTimed = 100, kSamples = 9;

class SeedOnGpu {
 public:
  SeedOnGpu(gpu::Gpu& device, const Chain& chain) : device_(device), chain_(chain), layout_(args_layout(chain.task)), args_(layout_.bytes / 8) {
    declared_ = device.constant("ol_launch");
    for (const WeightArena::Place& place : weight_arena(chain.task).places)
      put(place.tensor->name, std::span(chain.weights).subspan(place.offset, place.bytes));
    const auto states = chain.task.with(Role::state);
    for (std::size_t i = 0; i < states.size(); ++i) put(states[i]->name, chain.states[i]);
    for (const Role role : {Role::input, Role::output})
      for (const Tensor* tensor : chain.task.with(role)) put(tensor->name, Bytes(tensor->bytes(0), std::byte{0xff}));
    word(layout_.sync) = device.buffer(Bytes(declared_[4]));
    word(layout_.scratch) = device.buffer(Bytes(declared_[5], std::byte{0xff}));
    word(layout_.cache_capacity) = static_cast<std::uint64_t>(chain.capacity);
  }

  void step(const Bytes& token, int index) {
    device_.write(word(layout_.pointers.at(chain_.task.with(Role::input)[0]->name)), token);
    word(layout_.position) = static_cast<std::uint64_t>(chain_.context + index);
    word(layout_.epoch) = static_cast<std::uint64_t>(index);
    device_.launch(grid(), block(), shared(), args_.data());
    device_.wait();
  }
  double time_us() { return device_.time_us(kLaunchesTimed, grid(), block(), shared(), args_.data()); }
  Bytes read(const Tensor& tensor) { return device_.read(word(layout_.pointers.at(tensor.name)), tensor.bytes(chain_.capacity)); }

 private:
  std::uint64_t& word(std::size_t offset) { return args_.at(offset / 8); }
  void put(const std::string& name, std::span<const std::byte> content) { word(layout_.pointers.at(name)) = device_.buffer(content); }
  unsigned block() const { return static_cast<unsigned>(declared_[0]); }
  unsigned grid() const {
    const std::uint64_t grid = declared_[1];
    return static_cast<unsigned>(grid >> 32 ? (grid & 0xffffffff) * static_cast<unsigned>(device_.sms()) : grid);
  }
  unsigned shared() const { return static_cast<unsigned>(declared_[2]); }

  gpu::Gpu& device_;
  const Chain& chain_;
  ArgsLayout layout_;
  std::vector<std::uint64_t> args_, declared_;
};

struct Case {
  const char *task, *variant;
  std::int64_t context;
  std::map<std::string, std::string> tunables;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.task << " " << one.variant << " " << one.context; }

class SeedsOnGpu : public testing::TestWithParam<Case> {};

std::vector<Finding> findings(const Chain& chain, SeedOnGpu& seed, const Oracle& oracle, const OracleStep& want, int step) {
  std::vector<TensorView> views;
  std::vector<Bytes> got;
  const auto outputs = chain.task.with(Role::output), states = chain.task.with(Role::state);
  for (const Tensor* tensor : outputs) got.push_back(seed.read(*tensor));
  for (const Tensor* tensor : states) got.push_back(seed.read(*tensor));
  for (std::size_t i = 0; i < outputs.size(); ++i) views.push_back({outputs[i], got[i], want.outputs[i], {}});
  for (std::size_t i = 0; i < states.size(); ++i)
    views.push_back({states[i], got[outputs.size() + i], oracle.states()[i], chain.states[i]});
  return compare(chain.task, views, chain.context, chain.context + step + 1);
}

TEST_P(SeedsOnGpu, AgreeWithTheOracle) {
  if (const std::string why = gpu::Gpu::missing(); !why.empty()) GTEST_SKIP() << "NO GPU: " << why;
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  gpu::Gpu device;
  const Case& one = GetParam();
  const Chain chain(one.task, one.variant, InputSet::strict, one.context);
  const std::string source = *read_file(std::string(ONELAUNCH_LIBRARY) + "/" + one.task + "/seed.cu", 1 << 20);
  const CompiledCandidate compiled = compile_candidate(*nvrtc, chain.task, source, "sm_90a", defines_of(tunables_of(source), one.tunables));
  ASSERT_TRUE(compiled.ok) << compiled.log;
  device.load(compiled.ptx, "megakernel");
  SeedOnGpu seed(device, chain);
  Oracle oracle = chain.oracle(8);
  for (int step = 0; step < 3; ++step) {
    const Result<DrawnToken> drawn = draw_token(oracle, chain.task, chain.seed + 2, chain.set, step);
    ASSERT_TRUE(drawn) << drawn.error().message;
    seed.step(drawn->token, step);
    const OracleStep want = oracle.step(drawn->token);
    for (const Finding& finding : findings(chain, seed, oracle, want, step)) EXPECT_TRUE(finding.ok) << finding.test << ": " << finding.detail;
  }
  std::vector<double> samples;
  seed.time_us();
  for (int i = 0; i < kSamples; ++i) samples.push_back(seed.time_us());
  std::sort(samples.begin(), samples.end());
  std::string chosen;
  for (const auto& [name, value] : one.tunables) chosen += (chosen.empty() ? "" : " ") + name + "=" + value;
  std::printf("{\"gpu\": \"%s\", \"task\": \"%s\", \"variant\": \"%s\", \"context\": %lld, \"tunables\": \"%s\", \"correct\": %s, "
              "\"token_loop_us\": {\"median\": %.2f, \"low\": %.2f, \"high\": %.2f, \"samples\": %d, \"launches\": %d}}\n",
              device.name().c_str(), one.task, one.variant, static_cast<long long>(one.context), chosen.c_str(),
              testing::Test::HasFailure() ? "false" : "true", samples[kSamples / 2], samples.front(), samples.back(), kSamples, kLaunchesTimed);
}

INSTANTIATE_TEST_SUITE_P(
    Library, SeedsOnGpu,
    testing::Values(Case{"rmsnorm_linear", "full", 0, {}}, Case{"llama_block_decode", "full", 512, {}},
                    Case{"kimi_linear_decode", "tiny", 96, {}}, Case{"kimi_linear_decode", "full", 2048, {}},
                    Case{"kimi_linear_decode", "full", 2048, {{"UNROLL", "1"}}}, Case{"kimi_linear_decode", "full", 2048, {{"UNROLL", "4"}}},
                    Case{"kimi_linear_decode", "full", 2048, {{"BLOCK", "512"}, {"UNROLL", "4"}}},
                    Case{"kimi_linear_decode", "full", 2048, {{"BLOCK", "288"}, {"TILE", "64"}, {"UNROLL", "8"}}},
                    Case{"kimi_linear_decode", "full", 2048, {{"BLOCK", "576"}, {"OUT_SPLIT", "4"}, {"UNROLL", "4"}, {"HEADS_PER_TASK", "16"}}},
                    Case{"kimi_linear_decode", "full", 16384, {{"BLOCK", "512"}, {"UNROLL", "4"}}}));

}  // namespace
}  // namespace onelaunch::tasks
