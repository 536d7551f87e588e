#include <gtest/gtest.h>

#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/exec/emulated_kernel.h"

namespace onelaunch::emu {
namespace {

using Words = std::vector<std::uint32_t>;

LaunchReport run(const std::string& body, LaunchShape shape = {.grid = 1, .block = 1}, LaunchOptions options = {}) {
  EmulatedKernel kernel(kDeviceCode + "extern \"C\" __global__ void kernel(u32* in, u32* out) { __shared__ alignas(128) u32 s[1024]; __shared__ u64 bar[2];\n" + body + "\n}");
  return kernel.run(shape, {kernel.buffer(Words(1024), "the input"), kernel.buffer(Words(1024))}, options);
}

TEST(Misuse, OfSizesAndAddressesOfBulkCopiesIsReported) {
  expect_fault(run("init(bar, 1); load(s, in, 100, bar);"), Fault::Kind::misuse, "a bulk copy of 100 bytes");
  expect_fault(run("init(bar, 1); load(s, in + 1, 64, bar);"), Fault::Kind::misaligned, "the input + 0x4");
  expect_fault(run("init(bar, 1); load(s + 1, in, 64, bar);"), Fault::Kind::misaligned, "misaligned shared address");
  expect_fault(run("init(bar, 1); load(s, in + 1000, 256, bar);"), Fault::Kind::out_of_bounds, "the input + 0xfa0");
  expect_fault(run("init(bar, 1); load(s + 1000, in, 256, bar);"), Fault::Kind::out_of_bounds, "outside the block's");
  expect_fault(run("store(out + 1020, s, 32);"), Fault::Kind::out_of_bounds, "buffer");
}

TEST(Misuse, OfBarriersIsReported) {
  expect_fault(run("arrive(bar);"), Fault::Kind::misuse, "no mbarrier has been initialised at shared byte");
  expect_fault(run("load(s, in, 64, bar);"), Fault::Kind::misuse, "no mbarrier has been initialised");
  expect_fault(run("init(bar, in[0]);"), Fault::Kind::misuse, "0 arrivals");
  expect_fault(run("init(bar, 1); init(bar, 1);"), Fault::Kind::misuse, "in use already");
  expect_fault(run("init(bar, 2); arrive(bar); u64 state; asm volatile(\"mbarrier.arrive.release.cta.shared.b64 %0, [%1], 2;\" : \"=l\"(state) : \"r\"(at(bar)));"), Fault::Kind::misuse, "waits for only 1 more");
  expect_fault(run("init(bar, 1); expect(bar, 16); arrive(bar);"), Fault::Kind::misuse, "waits for only 0 more");
  expect_fault(run("init(bar, 1); *(volatile u64*)bar = 5; arrive(bar);"), Fault::Kind::misuse, "was overwritten");
  expect_fault(run("init(bar, 1); wait(bar, 3);"), Fault::Kind::misuse, "parity must be 0 or 1");
  expect_fault(run("init(bar, 1); u64 state; asm volatile(\"mbarrier.arrive.noComplete.release.cta.shared.b64 %0, [%1], 1;\" : \"=l\"(state) : \"r\"(at(bar)));"), Fault::Kind::misuse, ".noComplete would complete");
}

TEST(Misuse, OfByteCountsIsReported) {
  const std::string twice = "init(bar, 4); expect(bar, 1 << 19); expect(bar, 1 << 19);";
  expect_fault(run(twice), Fault::Kind::misuse, "would owe 1048576 bytes");
  const std::string unannounced = "init(bar, 1); for (int i = 0; i < 300; ++i) load(s, in, 4096, bar);";
  expect_fault(run(unannounced), Fault::Kind::misuse, "did not expect them");
}

TEST(Misuse, OfParityEndsInAnExplainedDeadlock) {
  const LaunchReport report = run("if (threadIdx.x == 0) init(bar, 1); __syncthreads(); if (threadIdx.x == 0) arrive(bar); wait(bar, 0); wait(bar, 1);", {.grid = 1, .block = 32});
  expect_fault(report, Fault::Kind::deadlock, "phase 1 (parity 1) lacks 1 of 1 arrivals");
}

TEST(Misuse, OfParityThatWrapsIsReported) {
  const LaunchReport report = run(R"(
    if (threadIdx.x == 0) init(bar, 1);
    __syncthreads();
    if (threadIdx.x >= 32) wait(bar, 0);
    else if (threadIdx.x == 0) { for (int i = 0; i < 2000; ++i) asm volatile("nanosleep.u32 1;"); arrive(bar); arrive(bar); }
  )", {.grid = 1, .block = 64});
  expect_fault(report, Fault::Kind::misuse, "the parity wrapped: phases 0 to 1");
}

TEST(Misuse, OfABlockThatEndsUnderACopyIsReported) {
  expect_fault(run("s[0] = 1; store(out, s, 4096); commit();", {.grid = 1, .block = 1}, {.schedule_seed = 1}), Fault::Kind::misuse, "the block ends while this copy");
}

TEST(Misuse, NamesWhatIsNotImplemented) {
  const auto refusal = [](const std::string& instruction) {
    Device device(h200_profile());
    const auto module = device.load(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p;\n" + instruction + "\nret;\n}");
    if (!module) return module.error().message;
    const auto report = device.launch(**module, "k", {}, {}, {});
    return report ? std::string() : report.error().message;
  };
  EXPECT_NE(refusal("wgmma.fence.sync.aligned;").find("wgmma is not implemented"), std::string::npos);
  EXPECT_NE(refusal("griddepcontrol.wait;").find("programmatic dependent launches are not implemented"), std::string::npos);
  EXPECT_NE(refusal("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], [%r2];").find("tensor maps are not implemented"), std::string::npos);
  EXPECT_NE(refusal("setmaxnreg.inc.sync.aligned.u32 33;").find("multiple of 8"), std::string::npos);
  EXPECT_NE(refusal("fence.proxy.tensormap::generic.release.gpu;").find("only the proxies"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::emu
