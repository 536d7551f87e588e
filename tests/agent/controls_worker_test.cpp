// Every control is a wrong answer to the quick check of a session's opening, on the emulator.

#include <gtest/gtest.h>

#include "agent/loop/controls.h"
#include "sandbox/host/emulated_sandbox.h"
#include "tasks/catalog.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::agent {
namespace {

void expect_failures(const std::string& name, const std::string& variant) {
  const auto task = tasks::load_task(name, variant);
  ASSERT_TRUE(task) << task.error().message;
  const SystemClock clock;
  const TemporaryFolder cache;
  sandbox::EmulatedOptions options;
  options.worker = ONELAUNCH_WORKER_PATH;
  options.cache = cache.path();
  const auto device = sandbox::open_emulated(*task, options, clock);
  ASSERT_TRUE(device) << device.error().message;
  for (const ControlKernel& control : control_kernels(*task)) {
    const Deadline deadline = Deadline::after(clock, Seconds(100));
    const auto compiled = (*device)->compile({control.source, {}}, deadline);
    ASSERT_TRUE(compiled) << compiled.error().message;
    ASSERT_TRUE(std::holds_alternative<sandbox::Passed>(compiled->outcome))
        << control.name << ": " << sandbox::explain(compiled->outcome);
    const auto grade = (*device)->grade(*compiled, {.check = sandbox::Check::quick}, deadline);
    ASSERT_TRUE(grade) << grade.error().message;
    EXPECT_TRUE(std::holds_alternative<sandbox::WrongAnswer>(grade->outcome))
        << control.name << ": " << sandbox::explain(grade->outcome);
  }
}

TEST(Controls, OfKimiFailTheGate) { expect_failures("kimi_linear_decode", "tiny"); }
TEST(Controls, OfLlamaFailTheGate) { expect_failures("llama_block_decode", "full"); }

}  // namespace
}  // namespace onelaunch::agent
