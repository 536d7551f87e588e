#pragma once
// A CudaCandidate on a GPU made of host memory, with a clock that moves when it is looked whether the stream is idle.

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "base/unique_fd.h"
#include "sandbox/worker/cuda_candidate.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_driver.h"

namespace onelaunch::worker {

constexpr std::uint64_t kBytes = 1000;

class OnAFakeGpu : public testing::Test {
 protected:
  OnAFakeGpu() : stdout_(::open("/dev/null", O_WRONLY | O_CLOEXEC)), printed_(stdout_.get()) {
    fake_.printer = stdout_.get();
    fake_.on_query = [this] { clock_.advance(0.05); };
  }

  // Modules "candidate" (megakernel, prepare) and, unless told otherwise, "harness"; buffers "x", "y" of kBytes.
  CudaCandidate& candidate(bool harness = true) {
    open();
    const sandbox::SetupReply reply = candidate_->set_up(setup(harness));
    EXPECT_EQ(reply.problem, "");
    fake_.calls.clear();
    return *candidate_;
  }
  void open() {
    driver_ = fake_.driver();
    auto device = cuda::Device::open(driver_, fake_.nvml(), 0);
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
    Result<cuda::ActivityRecorder> recorder = unavailable("CUPTI is missing");
    if (with_cupti_) recorder = cuda::ActivityRecorder::create(fake_.cupti());
    candidate_ = std::make_unique<CudaCandidate>(*device_, printed_, std::move(recorder), clock_);
  }
  static sandbox::SetupJob setup(bool harness = true) {
    sandbox::SetupJob job;
    job.modules.push_back({"candidate", "", "megakernel prepare"});
    if (harness) job.modules.push_back({"harness", "", "ol_gate ol_sweep"});
    job.buffers = {{"x", kBytes, false, 0}, {"y", kBytes, false, 0}};
    return job;
  }
  static sandbox::LaunchOrder order(const std::string& entry = "megakernel") {
    sandbox::LaunchOrder order;
    order.module = "candidate", order.entry = entry;
    order.grid = 4, order.block = 64;
    order.seconds_max = 2;
    order.parameters.resize(16);
    order.relocations = {{0, "x", 0}, {8, "y", 8}};
    return order;
  }
  // Of a buffer, when a kernel got its address as the first or second parameter.
  static std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

  fakes::FakeClock clock_;
  fakes::FakeDriver fake_;
  bool with_cupti_ = true;
  UniqueFd stdout_;
  PrintedOutput printed_;
  cuda::Driver driver_;
  std::unique_ptr<cuda::Device> device_;
  std::unique_ptr<CudaCandidate> candidate_;
};

}  // namespace onelaunch::worker
