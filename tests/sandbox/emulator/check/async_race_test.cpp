// Copies that nobody waits for, slots that are filled again too early, stores that no proxy fence follows.
#include "tests/sandbox/emulator/async/device_code.h"
#include "tests/sandbox/emulator/check/checked_kernel.h"

namespace onelaunch::emu {
namespace {

std::string ring(const std::string& producer_wait, const std::string& consumer_wait, const std::string& before_release = "__syncwarp();") {
  return kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out, u32* other) {
      __shared__ alignas(128) u32 slots[2][128];
      __shared__ u64 full[2], empty[2];
      const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      if (threadIdx.x == 0) { for (int i = 0; i < 2; ++i) { init(full + i, 1); init(empty + i, 2); } fence_init(); }
      __syncthreads();
      if (warp == 2) {
        if (lane == 0) for (u32 i = 0; i < 7; ++i) {
          const u32 slot = i % 2, turn = i / 2;
          if (turn > 0) )" + producer_wait + R"(
          expect(full + slot, 512);
          load(slots[slot], in + i * 128, 512, full + slot);
        }
      } else {
        u32 sum = 0;
        for (u32 i = 0; i < 7; ++i) {
          const u32 slot = i % 2, turn = i / 2;
          )" + consumer_wait + R"(
          for (u32 k = warp * 32 + lane; k < 128; k += 64) sum += slots[slot][k];
          )" + before_release + R"(
          if (lane == 0) arrive(empty + slot);
        }
        out[threadIdx.x] = sum;
      }
    })";
}
constexpr const char *kProducer = "wait(empty + slot, (turn - 1) & 1);", *kConsumer = "wait(full + slot, turn & 1);";

TEST(AsyncRaces, AreNotSeenInARightRing) { expect_verdict(Verdict::clean, ring(kProducer, kConsumer), {.grid = 1, .block = 96}, 1024); }

TEST(AsyncRaces, AreSeenWhereARingLacksAWait) {
  expect_verdict(Verdict::race, ring(";", kConsumer), {.grid = 1, .block = 96}, 1024, "the producer does not wait");
  expect_verdict(Verdict::race, ring(kProducer, ";"), {.grid = 1, .block = 96}, 1024, "the consumers do not wait");
  expect_verdict(Verdict::race, ring(kProducer, "if (warp == 0) wait(full + slot, turn & 1);"), {.grid = 1, .block = 96}, 1024, "one consumer does not wait");
}

TEST(AsyncRaces, AreSeenWhereAStoreTakesAWaitForThePhaseBefore) {
  // The parity of the phase before is true at once.
  expect_verdict(Verdict::race, ring(kProducer, "wait(full + slot, (turn + 1) & 1);"), {.grid = 1, .block = 96}, 1024);
}

std::string store_out(const std::string& fence, const std::string& after) {
  return kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* in, u32* out, u32* other) {
      __shared__ alignas(128) u32 s[256];
      s[threadIdx.x] = threadIdx.x + 5;
      )" + fence + R"(
      __syncthreads();
      if (threadIdx.x == 0) { store(out, s, 512); commit(); )" + after + R"( }
      __syncthreads();
      s[threadIdx.x] = 9;
    })";
}

TEST(AsyncRaces, OfBulkStoresAreSeen) {
  const std::string read = "asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");";
  expect_verdict(Verdict::clean, store_out("fence_async();", read), {.grid = 1, .block = 128}, 256);
  expect_verdict(Verdict::clean, store_out("fence_async();", "wait_stores();"), {.grid = 1, .block = 128}, 256);
  expect_verdict(Verdict::race, store_out("", read), {.grid = 1, .block = 128}, 256, "no proxy fence");
  expect_verdict(Verdict::race, store_out("fence_async();", ""), {.grid = 1, .block = 128}, 256, "the source is written while it may be read");
}

TEST(AsyncRaces, OfSmallCopiesAreSeen) {
  const auto source = [](const std::string& wait) {
    return kDeviceCode + R"(
    extern "C" __global__ void kernel(const u32* in, u32* out, u32* other) {
      __shared__ alignas(16) u32 s[256];
      const u32 t = threadIdx.x;
      for (u32 i = 0; i < 2; ++i) asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" :: "r"(at(s + i * 64 + t)), "l"(in + i * 64 + t) : "memory");
      )" + wait + R"(
      __syncthreads();
      out[t] = s[63 - t];
    })";
  };
  expect_verdict(Verdict::clean, source("asm volatile(\"cp.async.wait_group 1;\" ::: \"memory\");"), {.grid = 1, .block = 64}, 256);
  expect_verdict(Verdict::clean, source("asm volatile(\"cp.async.wait_all;\" ::: \"memory\");"), {.grid = 1, .block = 64}, 256);
  expect_verdict(Verdict::race, source("asm volatile(\"cp.async.wait_group 2;\" ::: \"memory\");"), {.grid = 1, .block = 64}, 256);
}

std::string in_cluster(const std::string& first, const std::string& second) {
  return kDeviceCode + R"(
    extern "C" __global__ void kernel(u32* in, u32* out, u32* other) {
      __shared__ u32 s[32];
      const u32 t = threadIdx.x;
      s[t] = rank() * 100 + t;
      )" + first + R"(
      u32 got;
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(map(s + t, rank() ^ 1)) : "memory");
      )" + second + R"(
      s[t] = got + 1;
      out[blockIdx.x * 32 + t] = s[t];
      cluster_sync();
    })";
}

TEST(AsyncRaces, BetweenBlocksOfAClusterAreSeen) {
  const std::string relaxed = "asm volatile(\"barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");";
  const LaunchShape shape{.grid = 4, .block = 32, .cluster = 2};
  expect_verdict(Verdict::clean, in_cluster("cluster_sync();", "cluster_sync();"), shape, 128);
  expect_verdict(Verdict::race, in_cluster(relaxed, "cluster_sync();"), shape, 128, "an arrival that releases nothing");
  expect_verdict(Verdict::race, in_cluster("cluster_sync();", ""), shape, 128, "no second barrier");
}

}  // namespace
}  // namespace onelaunch::emu
