// The library's seeds, compiled by NVRTC and run on the emulator, against the oracle: chained tokens, every tunable.
#include <gtest/gtest.h>

#include <cstring>

#include "sandbox/emulator/device.h"
#include "tasks/compare.h"
#include "tests/tasks/nvrtc_candidate.h"
#include "tests/tasks/ops/chain.h"
#include "tests/tasks/tunables.h"

namespace onelaunch::tasks {
namespace {

// A seed with all buffers of a chain on the device.
class EmulatedSeed {
 public:
  EmulatedSeed(const Chain& chain, const std::string& ptx)
      : chain_(chain), device_(emu::h200_profile()), layout_(args_layout(chain.task)), args_(layout_.bytes / 8) {
    auto module = device_.load(ptx);
    OL_CHECK(module.has_value(), module ? "" : module.error().message);
    module_ = *module;
    std::memcpy(declared_, device_.initial_bytes(*module_, "ol_launch")->data(), sizeof declared_);
    for (const WeightArena::Place& place : weight_arena(chain.task).places)
      put(place.tensor->name, std::span(chain.weights).subspan(place.offset, place.bytes));
    const auto states = chain.task.with(Role::state);
    for (std::size_t i = 0; i < states.size(); ++i) put(states[i]->name, chain.states[i]);
    for (const Role role : {Role::input, Role::output})
      for (const Tensor* tensor : chain.task.with(role)) put(tensor->name, Bytes(tensor->bytes(0), std::byte{0xff}));
    word(layout_.sync) = allocate("sync", Bytes(declared_[4]));
    word(layout_.scratch) = allocate("scratch", Bytes(declared_[5], std::byte{0xff}));
    word(layout_.cache_capacity) = static_cast<std::uint64_t>(chain.capacity);
  }

  void step(const Bytes& token, int index, const emu::LaunchOptions& options) {
    const std::string input = chain_.task.with(Role::input)[0]->name;
    std::memcpy(device_.bytes(word(layout_.pointers.at(input))).data(), token.data(), token.size());
    word(layout_.position) = static_cast<std::uint64_t>(chain_.context + index);
    word(layout_.epoch) = static_cast<std::uint64_t>(index);
    if (options.checks.undefined) forget_contents();
    const std::uint64_t sms = static_cast<std::uint64_t>(device_.profile().sms);
    const std::uint64_t blocks = declared_[1] >> 32 != 0 ? (declared_[1] & 0xffffffff) * sms : declared_[1];
    const auto report = device_.launch(*module_, "megakernel",
                                       {.grid = static_cast<unsigned>(blocks),
                                        .block = static_cast<unsigned>(declared_[0]),
                                        .dynamic_shared_bytes = declared_[2]},
                                       std::as_bytes(std::span(args_)), options);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->faults.empty()) << report->faults.front().message << " at " << report->faults.front().where;
  }

  std::span<const std::byte> bytes(const Tensor& tensor) {
    return device_.bytes(word(layout_.pointers.at(tensor.name)));
  }

 private:
  std::uint64_t& word(std::size_t offset) { return args_.at(offset / 8); }
  void put(const std::string& name, std::span<const std::byte> content) {
    word(layout_.pointers.at(name)) = allocate(name, content);
  }
  std::uint64_t allocate(const std::string& name, std::span<const std::byte> content) {
    if (content.empty()) return 0;
    const auto address = device_.allocate({.name = name, .bytes = content.size()});
    OL_CHECK(address.has_value(), "the emulator has no memory");
    std::memcpy(device_.bytes(*address).data(), content.data(), content.size());
    return *address;
  }

  // What a kernel has to write before it reads it.
  void forget_contents() {
    if (word(layout_.scratch) != 0) device_.set_defined(word(layout_.scratch), false);
    for (const Tensor* tensor : chain_.task.with(Role::output)) device_.set_defined(word(layout_.pointers.at(tensor->name)), false);
  }

  const Chain& chain_;
  emu::Device device_;
  std::shared_ptr<emu::LoadedModule> module_;
  ArgsLayout layout_;
  std::vector<std::uint64_t> args_;
  std::uint64_t declared_[8] = {};
};

// Every output of one step, and every state after it.
void expect_right(const Chain& chain, EmulatedSeed& seed, const Oracle& oracle, const OracleStep& want,
                  const Bytes& token, std::int64_t end_row) {
  std::vector<TensorView> views;
  const auto outputs = chain.task.with(Role::output), states = chain.task.with(Role::state);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool updates = outputs[i]->shape == chain.task.with(Role::input)[0]->shape;
    views.push_back({outputs[i], seed.bytes(*outputs[i]), want.outputs[i],
                     updates ? std::span<const std::byte>(token) : std::span<const std::byte>()});
  }
  for (std::size_t i = 0; i < states.size(); ++i)
    views.push_back({states[i], seed.bytes(*states[i]), oracle.states()[i], chain.states[i]});
  for (const Finding& finding : compare(chain.task, views, chain.context, end_row))
    EXPECT_TRUE(finding.ok) << finding.test << ": " << finding.detail;
}

void expect_right_chain(const Chain& chain, const std::string& ptx, int steps, const emu::LaunchOptions& options) {
  EmulatedSeed seed(chain, ptx);
  Oracle oracle = chain.oracle(2);
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const Result<DrawnToken> drawn = draw_token(oracle, chain.task, chain.seed + 2, chain.set, step);
    ASSERT_TRUE(drawn) << drawn.error().message;
    ASSERT_NO_FATAL_FAILURE(seed.step(drawn->token, step, options));
    const OracleStep want = oracle.step(drawn->token);
    expect_right(chain, seed, oracle, want, drawn->token, chain.context + step + 1);
  }
}

struct Case {
  const char *task, *variant;
  std::int64_t context;
  int steps;
  bool every_value;  // of every tunable
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.task << " " << one.variant << " " << one.context; }

class SeedOnTheEmulator : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    Result<worker::Nvrtc> loaded = worker::Nvrtc::load();
    if (!loaded) GTEST_SKIP() << "no NVRTC here: " << loaded.error().message;
    nvrtc_ = *std::move(loaded);
    source_ = *read_file(std::string(ONELAUNCH_LIBRARY) + "/" + GetParam().task + "/seed.cu", 1 << 20);
  }
  std::string ptx(const Task& task, const std::map<std::string, std::string>& chosen) const {
    const CompiledCandidate compiled =
        compile_candidate(nvrtc_, task, source_, "sm_90a", defines_of(tunables_of(source_), chosen));
    EXPECT_TRUE(compiled.ok) << compiled.log;
    return compiled.ptx;
  }

  worker::Nvrtc nvrtc_;
  std::string source_;
};

TEST_P(SeedOnTheEmulator, AgreesWithTheOracleOnBothInputSets) {
  for (const InputSet set : {InputSet::nominal, InputSet::strict}) {
    SCOPED_TRACE(set == InputSet::strict ? "strict" : "nominal");
    const Chain chain(GetParam().task, GetParam().variant, set, GetParam().context);
    expect_right_chain(chain, ptx(chain.task, {}), GetParam().steps, {});
  }
}

TEST_P(SeedOnTheEmulator, GivesTheDetectorsNothingToSay) {
  const Chain chain(GetParam().task, GetParam().variant, InputSet::nominal, GetParam().context);
  const std::string text = ptx(chain.task, {});
  for (const std::uint64_t schedule : {0, 5})
    expect_right_chain(chain, text, 2, {.schedule_seed = schedule, .checks = {.races = true, .undefined = true}});
}

// At least the last value of every tunable; all of them where a compilation takes no second.
TEST_P(SeedOnTheEmulator, AgreesWithOtherValuesOfEveryTunable) {
  const Chain chain(GetParam().task, GetParam().variant, InputSet::strict, GetParam().context, 11);
  for (const SeedTunable& tunable : tunables_of(source_))
    for (const std::string& value : tunable.values) {
      if (!GetParam().every_value && value != tunable.values.back()) continue;
      SCOPED_TRACE(tunable.name + "=" + value);
      expect_right_chain(chain, ptx(chain.task, {{tunable.name, value}}), 1, {.schedule_seed = 3});
    }
}

INSTANTIATE_TEST_SUITE_P(Library, SeedOnTheEmulator,
                         testing::Values(Case{"rmsnorm_linear", "tiny", 0, 2, true},
                                         Case{"llama_block_decode", "tiny", 0, 2, false},
                                         Case{"llama_block_decode", "tiny", 33, 3, true},
                                         Case{"kimi_linear_decode", "tiny", 32, 3, false}));

}  // namespace
}  // namespace onelaunch::tasks
