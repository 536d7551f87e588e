#include "sandbox/host/torch_baseline.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tasks/catalog.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

class TorchBaselines : public testing::Test {
 protected:
  // A stand-in for python3: a shell script that is given the same arguments. $9 is the file for the result.
  TorchOptions python(const std::string& body) {
    TorchOptions options;
    options.python = folder_.path / "python3";
    std::ofstream(options.python) << "#!/bin/sh\n" << body << "\n";
    ::chmod(options.python.c_str(), 0755);
    options.scratch = folder_.path;
    options.modes = {"torch"};
    return options;
  }
  Result<std::vector<TorchResult>> run(const TorchOptions& options, double seconds = 60) {
    task_ = *tasks::load_task("rmsnorm_linear", "tiny");
    return torch_baselines(task_, options, clock_, Deadline::after(clock_, Seconds(seconds)), scope_);
  }
  static std::string mode(const std::string& more) {
    return R"(printf '%s' '{"modes": [{"mode": "torch", "context": 0, )" + more + R"(}]}' > "$8")";
  }

  SystemClock clock_;
  Interrupts interrupts_;
  Interrupts::Scope scope_{interrupts_};
  TemporaryFolder folder_;
  tasks::Task task_;
};

constexpr const char* kTimes =
    R"("wall_us": {"median": 50, "low": 49, "high": 52, "raw": [49, 50, 52]},
       "device_us": {"median": 12, "low": 11, "high": 13, "raw": [11, 12, 13]}, "launches": 4)";

TEST_F(TorchBaselines, GiveTimesAndTheErrorsAgainstTheOracle) {
  const auto results = run(python(mode(std::string(kTimes) + R"(, "errors": {"0.y": {"rel_l2": 0.001, "max": 0.01}, "1.y": {"rel_l2": 0.5, "max": 9}})")));
  ASSERT_TRUE(results) << results.error().message;
  const BaselineResult& torch = results->at(0).baseline;
  EXPECT_EQ(torch.launches, 4);
  ASSERT_EQ(torch.times.size(), 1u);
  EXPECT_EQ(torch.times[0].us_median, 12);
  EXPECT_EQ(torch.times[0].device->wall_us, 50);
  EXPECT_FALSE(torch.times[0].modelled);
  ASSERT_EQ(torch.gates.size(), 2u);
  EXPECT_TRUE(torch.gates[0].passed);
  EXPECT_FALSE(torch.gates[1].passed);
  EXPECT_EQ(torch.gates[1].step, 1);
}

TEST_F(TorchBaselines, TellWhichModeCouldNotBeRun) {
  const auto results = run(python(mode(R"("error": "RuntimeError: no triton")")));
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(results->at(0).problem, "RuntimeError: no triton");
}

TEST_F(TorchBaselines, SayWhatPythonSaidWhenItFails) {
  const auto results = run(python("echo 'torch is not installed' >&2; exit 1"));
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().kind, Error::Kind::unavailable);
  EXPECT_NE(results.error().message.find("status 1: torch is not installed"), std::string::npos) << results.error().message;
}

TEST_F(TorchBaselines, RefuseAResultThatIsNone) {
  const auto results = run(python("echo '{' > \"$8\""));
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().kind, Error::Kind::internal);
}

TEST_F(TorchBaselines, AreKilledWithAllTheyStartedWhenTheirTimeIsUp) {
  const std::filesystem::path number = folder_.path / "pid";
  const auto results = run(python("sleep 60 & echo $! > " + number.string() + "; wait"), 0.5);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("took too long"), std::string::npos);
  std::string pid, state;
  ASSERT_TRUE(std::ifstream(number) >> pid);
  std::ifstream(std::filesystem::path("/proc") / pid / "stat") >> pid >> state >> state;
  EXPECT_TRUE(state.empty() || state == "Z" || state == "X") << state;  // gone, or waiting to be reaped
}

TEST_F(TorchBaselines, SayHowToGetPython) {
  TorchOptions options = python("");
  options.python = "/nonexistent/python3";
  const auto results = run(options);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("install Python 3 and PyTorch"), std::string::npos);
}

TEST_F(TorchBaselines, AgreeWithTheOracleWherePytorchIsInstalled) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (std::system((std::string(python) + " -c 'import torch' 2>/dev/null").c_str()) != 0) continue;
    TorchOptions options;
    options.python = python;
    options.modes = {"torch"};
    options.device = "cpu";
    for (const auto& [name, variant] : {std::pair{"rmsnorm_linear", "tiny"}, std::pair{"llama_block_decode", ""}, std::pair{"kimi_linear_decode", "tiny"}}) {
      const tasks::Task task = *tasks::load_task(name, variant);
      const auto results = torch_baselines(task, options, clock_, Deadline::after(clock_, Seconds(100)), scope_);
      ASSERT_TRUE(results) << results.error().message;
      EXPECT_EQ(results->at(0).problem, "");
      EXPECT_FALSE(results->at(0).baseline.gates.empty());
      for (const GateResult& gate : results->at(0).baseline.gates) EXPECT_TRUE(gate.passed) << name << " " << gate.tensor << " " << gate.got;
    }
    return;
  }
  GTEST_SKIP() << "NO PYTORCH: install it to compare the torch baseline with the oracle";
}

}  // namespace
}  // namespace onelaunch::sandbox
