// The generator's kernels, compiled by NVRTC and run on the emulator, against the generator of the CPU: every bit.
#include "tasks/device_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/sha256.h"
#include "sandbox/emulator/device.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/ops/nvrtc_ptx.h"

namespace onelaunch::tasks {
namespace {

constexpr std::uint64_t kSeeds[] = {7, 0x123456789abcdef0};
constexpr InputSet kSets[] = {InputSet::nominal, InputSet::strict};

class EmulatedGenerator {
 public:
  explicit EmulatedGenerator(const std::string& ptx) : device_(emu::h200_profile()) {
    auto module = device_.load(ptx);
    OL_CHECK(module.has_value(), module ? "" : module.error().message);
    module_ = *module;
    table_ = allocate("table", generator_table().size());
    std::ranges::copy(generator_table(), device_.bytes(table_).begin());
  }

  // Filled with ones first, so that what a launch leaves out is seen.
  void make(const Tensor& tensor, std::int64_t capacity) {
    if (const auto old = addresses_.find(tensor.name); old != addresses_.end()) device_.free(old->second);
    addresses_[tensor.name] = allocate(tensor.name, tensor.bytes(capacity));
    std::ranges::fill(device_.bytes(addresses_[tensor.name]), std::byte{0xff});
  }

  void launch(const GeneratorLaunch& launch, std::uint64_t seed) {
    std::vector<std::uint64_t> words;
    for (const GeneratorArgument& argument : launch.arguments) words.push_back(word(argument, seed));
    const auto report =
        device_.launch(*module_, launch.entry,
                       {.grid = launch.grid, .block = launch.block, .dynamic_shared_bytes = launch.dynamic_smem},
                       std::as_bytes(std::span(words)), {.cooperative = false});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->faults.empty()) << report->faults.front().message;
  }

  std::span<const std::byte> bytes(const Tensor& tensor) { return device_.bytes(addresses_.at(tensor.name)); }

 private:
  std::uint64_t allocate(const std::string& name, std::size_t bytes) {
    const auto address = device_.allocate({.name = name, .bytes = bytes});
    OL_CHECK(address.has_value(), "the emulator has no memory");
    return *address;
  }
  std::uint64_t word(const GeneratorArgument& argument, std::uint64_t seed) const {
    using Kind = GeneratorArgument::Kind;
    if (argument.kind == Kind::tensor) return addresses_.at(argument.tensor);
    if (argument.kind == Kind::table) return table_;
    return argument.kind == Kind::seed ? seed : argument.literal;
  }

  emu::Device device_;
  std::shared_ptr<emu::LoadedModule> module_;
  std::uint64_t table_ = 0;
  std::map<std::string, std::uint64_t> addresses_;
};

class DeviceGenerator : public testing::Test {
 protected:
  void SetUp() override {
    Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
    if (!nvrtc) GTEST_SKIP() << "no NVRTC here: " << nvrtc.error().message;
    const CompiledPtx compiled = compile_to_ptx(*nvrtc, generator_source());
    ASSERT_TRUE(compiled.ok) << compiled.log;
    generator_.emplace(compiled.ptx);
  }

  void expect_weights(const Task& task, std::uint64_t seed, InputSet set, const GeneratorDevice& device = {}) {
    SCOPED_TRACE(task.name + (set == InputSet::strict ? " strict " : " nominal ") + std::to_string(seed));
    const WeightArena arena = weight_arena(task);
    Bytes want(arena.bytes);
    fill_weights(task, seed, set, want, 2);
    for (const WeightArena::Place& place : arena.places) generator_->make(*place.tensor, 0);
    for (const GeneratorLaunch& launch : weight_launches(task, set, device))
      ASSERT_NO_FATAL_FAILURE(generator_->launch(launch, seed));
    for (const WeightArena::Place& place : arena.places)
      expect_equal(*place.tensor, std::span(want).subspan(place.offset, place.bytes));
  }

  void expect_state(const Task& task, const Tensor& tensor, std::uint64_t seed, InputSet set, std::int64_t context,
                    std::int64_t capacity) {
    SCOPED_TRACE("context " + std::to_string(context));
    Bytes want(tensor.bytes(capacity));
    fill_tensor(task, tensor, seed, set, context, want);
    generator_->make(tensor, capacity);
    ASSERT_NO_FATAL_FAILURE(generator_->launch(tensor_launch(task, tensor, set, context, capacity), seed));
    expect_equal(tensor, want);
  }

  void expect_equal(const Tensor& tensor, std::span<const std::byte> want) {
    const std::span<const std::byte> got = generator_->bytes(tensor);
    ASSERT_EQ(got.size(), want.size()) << tensor.name;
    const auto differ = std::ranges::mismatch(got, want);
    EXPECT_TRUE(differ.in1 == got.end()) << tensor.name << " differs at byte " << differ.in1 - got.begin();
  }

  std::optional<EmulatedGenerator> generator_;
};

// ---- a task with every dtype and distribution, and with shapes that fit no vector ----

using Kind = Distribution::Kind;
constexpr Distribution kWide{Kind::normal, 3, 0.75, 0}, kSpread{Kind::normal, 0.7, -0.1, 3},
    kWidestSpread{Kind::normal, 1, 0, 16};
constexpr Distribution kConstant{Kind::constant, -2.5, 0, 0}, kLarge{Kind::normal, 200, 100, 0};

constexpr Distribution kOutliers{.kind = Kind::normal, .scale = 1, .spread = 2, .outlier = 20};
constexpr Distribution kMarked{.kind = Kind::normal, .scale = 0.5, .mean = 1, .outlier = 3, .marked = 128};
constexpr Distribution kQuiet{.kind = Kind::normal, .scale = 2, .spread = 1, .marked = 0};

class Varied {
 public:
  Varied() {
    task_.name = "varied";
    plain("a", Role::weight, DType::bf16, {3, 7}, kWide, kSpread);
    int4("b", 1, 128, 8, kWide, kSpread);
    plain("c", Role::weight, DType::f32, {5, 16}, kSpread, kConstant);
    int4("d", 3, 256, 264, kSpread, kWidestSpread);
    int4("e", 2, 128, 37, kConstant, kSpread);
    plain("f", Role::weight, DType::u8, {1027}, kLarge, {});
    plain("g", Role::weight, DType::i32, {9, 5}, {Kind::normal, 1e7, 0, 0}, kSpread);
    int4("h", 2, 128, 16, {}, {Kind::normal, 1e-7, 0, 0});
    plain("i", Role::weight, DType::bf16, {4096}, {}, kConstant);
    plain("m", Role::weight, DType::bf16, {7, 300}, kMarked, kQuiet);
    plain("n", Role::weight, DType::f32, {517}, kOutliers, kMarked);
    int4("o", 2, 384, 264, kQuiet, kQuiet);
    int4("p", 2, 256, 21, kQuiet, kSpread);
    plain("q", Role::state, DType::f32, {2, 130}, kOutliers, kOutliers);
    plain("j", Role::state, DType::bf16, {kCapacity, 13}, kSpread, kWide);
    plain("k", Role::state, DType::f32, {3, 24}, kWide, kWidestSpread);
    plain("l", Role::state, DType::bf16, {kCapacity, 64}, kConstant, {});
  }
  const Task& task() const { return task_; }

 private:
  void plain(const std::string& name, Role role, DType dtype, std::vector<std::int64_t> shape,
             const Distribution& nominal, const Distribution& strict) {
    task_.tensors.push_back({name, role, dtype, std::move(shape), nominal, strict, ++id_});
  }
  void int4(const std::string& name, std::int64_t experts, std::int64_t in, std::int64_t out,
            const Distribution& nominal, const Distribution& strict) {
    task_.quantised.push_back({name, experts, in, out, 128, nominal, strict, ++id_});
    task_.tensors.push_back({name + ".packed", Role::weight, DType::u8, {experts, in / 2, out}, {}, {}, id_});
    for (const char* part : {".scale", ".zero"})
      task_.tensors.push_back({name + part, Role::weight, DType::bf16, {experts, in / 128, out}, {}, {}, id_});
  }

  Task task_;
  std::uint32_t id_ = 0;
};

TEST_F(DeviceGenerator, DrawsEveryDistributionDtypeAndShape) {
  const Varied varied;
  for (const std::uint64_t seed : kSeeds)
    for (const InputSet set : kSets) {
      expect_weights(varied.task(), seed, set);
      for (const Tensor* state : varied.task().with(Role::state))
        for (const std::int64_t context : {0, 1, 9, 11}) expect_state(varied.task(), *state, seed, set, context, 11);
    }
}

TEST_F(DeviceGenerator, TakesSeveralTilesABlock) {
  const Varied varied;
  expect_weights(varied.task(), 3, InputSet::nominal, {.sms = 2});
}

TEST_F(DeviceGenerator, DrawsTheSameWithoutSharedMemory) {
  const Varied varied;
  expect_weights(varied.task(), 3, InputSet::strict, {.shared_per_block = 48 << 10});
}

TEST_F(DeviceGenerator, DrawsTheLibrarysWeightsAndStates) {
  for (const char* name : {"rmsnorm_linear", "llama_block_decode", "kimi_linear_decode"}) {
    const Task task = library_task(name, "tiny");
    for (const std::uint64_t seed : kSeeds)
      for (const InputSet set : kSets) {
        expect_weights(task, seed, set);
        for (const Tensor* state : task.with(Role::state)) expect_state(task, *state, seed, set, 32, 37);
      }
  }
}

TEST_F(DeviceGenerator, GivesOtherWeightsForAnotherSeed) {
  const Task task = library_task("rmsnorm_linear", "tiny");
  const Tensor& weight = *task.find("w");
  std::vector<std::string> digests;
  for (const std::uint64_t seed : {1ull, 1ull | 1ull << 32}) {
    generator_->make(weight, 0);
    ASSERT_NO_FATAL_FAILURE(generator_->launch(tensor_launch(task, weight, InputSet::strict, 0, 0), seed));
    digests.push_back(sha256_hex(generator_->bytes(weight)));
  }
  EXPECT_NE(digests[0], digests[1]);
}

}  // namespace
}  // namespace onelaunch::tasks
