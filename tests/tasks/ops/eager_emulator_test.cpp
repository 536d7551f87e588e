// The eager kernels, compiled by NVRTC and run on the emulator, against the oracle: outputs and states of chained
// tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sandbox/emulator/device.h"
#include "tasks/eager.h"
#include "tests/tasks/ops/block_reference.h"
#include "tests/tasks/ops/nvrtc_ptx.h"
#include "tests/tasks/ops/odd_task.h"

namespace onelaunch::tasks {
namespace {

Chain chain_of(const std::string& task, const std::string& variant, InputSet set, std::int64_t context) {
  if (task != "odd") return Chain(task, variant, set, context);
  Result<Task> parsed = parse_task(kOddTask, "odd.json", "");
  OL_CHECK(parsed.has_value(), parsed ? "" : parsed.error().message);
  return Chain(*std::move(parsed), set, context);
}

// The plan's buffers and the task's tensors on the device.
class EmulatedPlan {
 public:
  EmulatedPlan(const Chain& chain, const EagerPlan& plan, const std::string& ptx, std::uint64_t schedule = 0)
      : chain_(chain), plan_(plan), device_(emu::h200_profile()), schedule_(schedule) {
    auto module = device_.load(ptx);
    OL_CHECK(module.has_value(), module ? "" : module.error().message);
    module_ = *module;
    for (const WeightArena::Place& place : weight_arena(chain.task).places)
      put(place.tensor->name, std::span(chain.weights).subspan(place.offset, place.bytes));
    const auto states = chain.task.with(Role::state);
    for (std::size_t i = 0; i < states.size(); ++i) put(states[i]->name, chain.states[i]);
    for (const Role role : {Role::input, Role::output})
      for (const Tensor* tensor : chain.task.with(role)) put(tensor->name, Bytes(tensor->bytes(0)));
    for (const EagerBuffer& buffer : plan_.buffers) put(buffer.name, Bytes(buffer.bytes, std::byte{0xff}));
  }

  void step(const Bytes& token, std::int64_t position) {
    std::memcpy(device_.bytes(addresses_.at(chain_.task.with(Role::input)[0]->name)).data(), token.data(),
                token.size());
    for (const EagerLaunch& launch : plan_.launches) {
      std::vector<std::uint64_t> words;
      for (const EagerArgument& argument : launch.arguments) words.push_back(word(argument, position));
      const auto report =
          device_.launch(*module_, launch.entry,
                         {.grid = launch.grid, .block = launch.block, .dynamic_shared_bytes = launch.dynamic_smem},
                         std::as_bytes(std::span(words)), {.cooperative = false, .schedule_seed = schedule_});
      ASSERT_TRUE(report) << report.error().message;
      ASSERT_TRUE(report->faults.empty()) << launch.op << ": " << report->faults.front().message;
    }
  }

  std::span<const std::byte> bytes(const std::string& name) { return device_.bytes(addresses_.at(name)); }
  Vector values(const Tensor& tensor) { return values(tensor.name, tensor.dtype); }

  // Of the routed layers of the last token, as the plan says they are found.
  std::vector<double> margins() {
    std::vector<double> found;
    for (const EagerRouting& routing : plan_.routings) {
      Vector logits = values(routing.logits, routing.dtype);
      std::ranges::sort(logits, std::greater<>());
      EXPECT_EQ(static_cast<std::int64_t>(logits.size()), routing.experts);
      const auto k = static_cast<std::size_t>(routing.k);
      found.push_back(logits[k - 1] - logits[k]);
    }
    return found;
  }

 private:
  void put(const std::string& name, std::span<const std::byte> content) {
    const auto address = device_.allocate({.name = name, .bytes = content.size()});
    OL_CHECK(address.has_value(), "the emulator has no memory");
    addresses_[name] = *address;
    std::memcpy(device_.bytes(*address).data(), content.data(), content.size());
  }

  Vector values(const std::string& name, DType dtype) {
    const auto found = bytes(name);
    return decoded(Bytes(found.begin(), found.end()), dtype);
  }

  std::uint64_t word(const EagerArgument& argument, std::int64_t position) const {
    if (argument.kind == EagerArgument::Kind::position) return static_cast<std::uint64_t>(position);
    if (argument.kind == EagerArgument::Kind::capacity) return static_cast<std::uint64_t>(chain_.capacity);
    return addresses_.at(argument.buffer);
  }

  const Chain& chain_;
  const EagerPlan& plan_;
  emu::Device device_;
  std::shared_ptr<emu::LoadedModule> module_;
  std::uint64_t schedule_;
  std::map<std::string, std::uint64_t> addresses_;
};

struct Case {
  const char *task, *variant;
  std::int64_t context;
  int steps;
  InputSet set;
  EagerSums sums;
  double share;  // of the tolerances, that errors may have
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.task << " " << one.variant << " " << one.context << (one.set == InputSet::strict ? " strict" : " nominal")
       << (one.sums == EagerSums::f64 ? " f64" : " f32");
}
class EagerOnTheEmulator : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
    ASSERT_TRUE(nvrtc) << nvrtc.error().message;
    plan_ = eager_plan(chain_.task, chain_.capacity, GetParam().sums);
    const CompiledPtx compiled = compile_to_ptx(*nvrtc, plan_.source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    ptx_ = compiled.ptx;
  }

  Chain chain_ = chain_of(GetParam().task, GetParam().variant, GetParam().set, GetParam().context);
  EagerPlan plan_;
  std::string ptx_;
};

// The kernels round where the oracle does, so they agree far better than the task demands.
TEST_P(EagerOnTheEmulator, AgreesWithTheOracle) {
  EmulatedPlan eager(chain_, plan_, ptx_);
  Oracle oracle = chain_.oracle(2);
  const double share = GetParam().share;
  for (int step = 0; step < GetParam().steps; ++step) {
    const Result<DrawnToken> drawn = draw_token(oracle, chain_.task, chain_.seed + 2, chain_.set, step);
    ASSERT_TRUE(drawn) << drawn.error().message;
    ASSERT_NO_FATAL_FAILURE(eager.step(drawn->token, chain_.context + step));
    const OracleStep want = oracle.step(drawn->token);
    const auto outputs = chain_.task.with(Role::output);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_LE(relative_error(eager.values(*outputs[i]), decoded(want.outputs[i], outputs[i]->dtype)),
                share * tolerance_of(chain_.task, *outputs[i]))
          << outputs[i]->name << " step " << step;
    EXPECT_EQ(eager.margins().size(), want.margins.size());
    for (std::size_t i = 0; i < want.margins.size(); ++i)
      EXPECT_NEAR(eager.margins()[i], want.margins[i], GetParam().sums == EagerSums::f64 ? 0 : kRoutingMargin / 4)
          << "step " << step;
  }
  const auto states = chain_.task.with(Role::state);
  for (std::size_t i = 0; i < states.size(); ++i)
    EXPECT_LE(relative_error(eager.values(*states[i]), decoded(oracle.states()[i], states[i]->dtype)),
              share * tolerance_of(chain_.task, *states[i]))
        << states[i]->name;
}

TEST_P(EagerOnTheEmulator, GivesTheSameBitsInEveryOrderOfBlocks) {
  std::vector<Bytes> seen;
  for (const std::uint64_t schedule : {0, 5}) {
    EmulatedPlan eager(chain_, plan_, ptx_, schedule);
    ASSERT_NO_FATAL_FAILURE(eager.step(chain_.token(0), chain_.context));
    Bytes all;
    for (const Role role : {Role::output, Role::state})
      for (const Tensor* tensor : chain_.task.with(role)) {
        const auto bytes = eager.bytes(tensor->name);
        all.insert(all.end(), bytes.begin(), bytes.end());
      }
    seen.push_back(std::move(all));
  }
  EXPECT_TRUE(seen[0] == seen[1]);
}

constexpr InputSet kNominal = InputSet::nominal, kStrict = InputSet::strict;
constexpr EagerSums kF32 = EagerSums::f32, kF64 = EagerSums::f64;
INSTANTIATE_TEST_SUITE_P(Library, EagerOnTheEmulator,
                         testing::Values(Case{"rmsnorm_linear", "tiny", 0, 2, kStrict, kF32, 0.25},
                                         Case{"rmsnorm_linear", "full", 0, 2, kStrict, kF64, 1e-3},
                                         Case{"llama_block_decode", "tiny", 32, 4, kStrict, kF32, 0.25},
                                         Case{"llama_block_decode", "tiny", 0, 4, kNominal, kF64, 1e-3},
                                         Case{"llama_block_decode", "full", 128, 4, kStrict, kF64, 1e-3},
                                         Case{"kimi_linear_decode", "tiny", 32, 4, kStrict, kF32, 0.25},
                                         Case{"kimi_linear_decode", "tiny", 32, 4, kStrict, kF64, 1e-3},
                                         Case{"kimi_linear_decode", "tiny", 300, 2, kStrict, kF64, 1e-3},
                                         Case{"kimi_linear_decode", "tiny", 96, 2, kNominal, kF64, 1e-3},
                                         Case{"odd", "", 33, 3, kNominal, kF32, 0.25},
                                         Case{"odd", "", 130, 2, kNominal, kF64, 1e-3}));

}  // namespace
}  // namespace onelaunch::tasks
