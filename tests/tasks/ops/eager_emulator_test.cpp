// The eager kernels, compiled by NVRTC and run on the emulator, against the oracle: outputs and states of chained
// tokens.
#include <gtest/gtest.h>

#include <cstring>

#include "sandbox/emulator/device.h"
#include "tasks/eager.h"
#include "tests/tasks/ops/block_reference.h"
#include "tests/tasks/ops/nvrtc_ptx.h"

namespace onelaunch::tasks {
namespace {

// The plan's buffers and the task's tensors on the device.
class EmulatedPlan {
 public:
  EmulatedPlan(const Chain& chain, const std::string& ptx)
      : chain_(chain), plan_(eager_plan(chain.task, chain.context, chain.capacity)), device_(emu::h200_profile()) {
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
                         std::as_bytes(std::span(words)), {.cooperative = false});
      ASSERT_TRUE(report) << report.error().message;
      ASSERT_TRUE(report->faults.empty()) << launch.op << ": " << report->faults.front().message;
    }
  }

  Vector values(const Tensor& tensor) {
    const auto bytes = device_.bytes(addresses_.at(tensor.name));
    return decoded(Bytes(bytes.begin(), bytes.end()), tensor.dtype);
  }

 private:
  void put(const std::string& name, std::span<const std::byte> content) {
    const auto address = device_.allocate({.name = name, .bytes = content.size()});
    OL_CHECK(address.has_value(), "the emulator has no memory");
    addresses_[name] = *address;
    std::memcpy(device_.bytes(*address).data(), content.data(), content.size());
  }

  std::uint64_t word(const EagerArgument& argument, std::int64_t position) const {
    if (argument.kind == EagerArgument::Kind::position) return static_cast<std::uint64_t>(position);
    if (argument.kind == EagerArgument::Kind::capacity) return static_cast<std::uint64_t>(chain_.capacity);
    return addresses_.at(argument.buffer);
  }

  const Chain& chain_;
  EagerPlan plan_;
  emu::Device device_;
  std::shared_ptr<emu::LoadedModule> module_;
  std::map<std::string, std::uint64_t> addresses_;
};

struct Case {
  const char *task, *variant;
  std::int64_t context;
  int steps;
};
class EagerOnTheEmulator : public testing::TestWithParam<Case> {};

// The kernels round where the oracle does, so they agree far better than the task demands.
TEST_P(EagerOnTheEmulator, AgreesWithTheOracle) {
  const Result<worker::Nvrtc> nvrtc = worker::Nvrtc::load();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  const Chain chain(GetParam().task, GetParam().variant, InputSet::strict, GetParam().context);
  const CompiledPtx compiled = compile_to_ptx(*nvrtc, eager_plan(chain.task, chain.context, chain.capacity).source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  EmulatedPlan eager(chain, compiled.ptx);
  Oracle oracle = chain.oracle(2);
  const Tensor& output = *chain.task.with(Role::output)[0];
  for (int step = 0; step < GetParam().steps; ++step) {
    const Result<DrawnToken> drawn = draw_token(oracle, chain.task, chain.seed + 2, chain.set, step);
    ASSERT_TRUE(drawn) << drawn.error().message;
    ASSERT_NO_FATAL_FAILURE(eager.step(drawn->token, chain.context + step));
    const Vector want = decoded(oracle.step(drawn->token).outputs[0], output.dtype);
    EXPECT_LT(relative_error(eager.values(output), want), chain.task.output_tolerance.rel_l2 / 3) << "step " << step;
  }
  const auto states = chain.task.with(Role::state);
  for (std::size_t i = 0; i < states.size(); ++i)
    EXPECT_LT(relative_error(eager.values(*states[i]), decoded(oracle.states()[i], states[i]->dtype)),
              chain.task.state_tolerance.rel_l2 / 3)
        << states[i]->name;
}

INSTANTIATE_TEST_SUITE_P(Library, EagerOnTheEmulator,
                         testing::Values(Case{"rmsnorm_linear", "tiny", 0, 2},
                                         Case{"llama_block_decode", "tiny", 32, 4},
                                         Case{"kimi_linear_decode", "tiny", 32, 4},
                                         Case{"kimi_linear_decode", "tiny", 96, 2}));

}  // namespace
}  // namespace onelaunch::tasks
