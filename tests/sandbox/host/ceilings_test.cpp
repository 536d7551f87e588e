#include "sandbox/host/ceilings.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sandbox/host/microbench.h"
#include "sandbox/host/microbench_kernels.h"
#include "tests/sandbox/host/temporary_folder.h"

namespace onelaunch::sandbox {
namespace {

Ceilings sample() {
  Ceilings ceilings;
  ceilings.device = "NVIDIA H200", ceilings.target = "sm_90a";
  ceilings.uuid = "GPU-8f6f/../x", ceilings.driver_version = "580.159.04";
  ceilings.measured_at = "2026-12-01T05:09:06.123Z";
  ceilings.complete = true;
  ceilings.stream_tb_s = 4.7, ceilings.grid_barrier_us = 0.95, ceilings.launch_us = 4.2, ceilings.enqueue_us = 2.5;
  ceilings.samples = 9;
  ceilings.methods = {{.name = "loads", .footprint_bytes = 1ull << 32, .tb_s = 4.7},
                      {.name = "ring", .footprint_bytes = 1 << 20, .resident = true, .skipped = "too old"}};
  ceilings.barriers = {{1, 0.95, ""}, {2, 1.25, ""}};
  ceilings.clocks = {.sm_mhz_low = 1965, .sm_mhz_high = 1980, .memory_mhz = 3201, .power_w_high = 410, .temperature_c_high = 43, .throttle_reasons = 5};
  return ceilings;
}

TEST(Ceilings, SurviveARoundTripThroughJson) {
  const std::string text = to_json(sample());
  const auto back = ceilings_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), text);
  EXPECT_EQ(back->methods[1].skipped, "too old");
  EXPECT_TRUE(back->methods[1].resident);
  EXPECT_EQ(back->barriers[1].us, 1.25);
  EXPECT_EQ(back->clocks.throttle_reasons, 5u);
}

TEST(Ceilings, DamagedTextIsRefused) {
  const std::string text = to_json(sample());
  EXPECT_FALSE(ceilings_from_json(""));
  EXPECT_FALSE(ceilings_from_json("{}"));
  EXPECT_FALSE(ceilings_from_json(text.substr(0, text.size() / 2)));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"stream_tb_s\": 4.7", "\"stream_tb_s\": 0"},
           {"\"stream_tb_s\": 4.7", "\"stream_tb_s\": \"fast\""},
           {"\"launch_us\": 4.2", "\"launch_us\": -1"},
           {"ceilings 1", "ceilings 0"}}) {
    std::string changed = text;
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_FALSE(ceilings_from_json(changed)) << to;
  }
}

TEST(CeilingStore, GivesBackWhatIsAtMostADayOld) {
  const TemporaryFolder folder;
  const CeilingStore store(folder.path);
  const Ceilings ceilings = sample();
  const auto at = [&](const char* now) { return store.find(ceilings.uuid, ceilings.driver_version, now); };
  EXPECT_FALSE(at("2026-12-01T06:00:00.000Z"));
  ASSERT_TRUE(store.store(ceilings));
  ASSERT_TRUE(at("2026-12-01T06:00:00.000Z"));
  EXPECT_EQ(at("2026-12-01T06:00:00.000Z")->stream_tb_s, 4.7);
  EXPECT_TRUE(at("2026-12-02T05:09:00.000Z"));
  EXPECT_FALSE(at("2026-12-02T05:10:00.000Z")) << "older than a day";
  EXPECT_FALSE(at("2026-12-01T05:09:00.000Z")) << "from the future";
  EXPECT_FALSE(at("yesterday"));
  EXPECT_FALSE(store.find("GPU-other", ceilings.driver_version, "2026-12-01T06:00:00.000Z"));
  EXPECT_FALSE(store.find(ceilings.uuid, "590", "2026-12-01T06:00:00.000Z"));
}

TEST(CeilingStore, TakesADamagedFileForAMissingOneAndStaysInItsFolder) {
  const TemporaryFolder folder;
  const CeilingStore store(folder.path);
  const Ceilings ceilings = sample();
  ASSERT_TRUE(store.store(ceilings));
  const auto path = store.path_of(ceilings.uuid, ceilings.driver_version);
  EXPECT_EQ(path.parent_path(), folder.path / "ceilings");
  std::ofstream(path) << "{";
  EXPECT_FALSE(store.find(ceilings.uuid, ceilings.driver_version, "2026-12-01T06:00:00.000Z"));
}

DeviceFacts h200() {
  DeviceFacts facts;
  facts.target = "sm_90a", facts.sms = 132, facts.shared_per_block = 232448;
  facts.l2_bytes = 60ull << 20, facts.memory_free_bytes = 139ull << 30;
  return facts;
}

TEST(MicrobenchPlan, SizesComeFromTheDevice) {
  const MicrobenchPlan plan = microbench_plan(h200(), true);
  EXPECT_EQ(plan.data_bytes(), 4ull << 30);
  ASSERT_EQ(plan.footprints.size(), 4u);
  EXPECT_EQ(plan.footprints[0].bytes, 256ull << 20);
  EXPECT_EQ(plan.footprints[0].launches, 16u);
  EXPECT_EQ(plan.footprints[3].bytes, 30ull << 20);
  EXPECT_TRUE(plan.footprints[3].resident);
  EXPECT_EQ(plan.methods[2].slots, 11u);
  EXPECT_GE(plan.samples, 7);
  DeviceFacts small = h200();
  small.memory_free_bytes = 1ull << 30;
  EXPECT_EQ(microbench_plan(small, true).data_bytes(), 256ull << 20);
  EXPECT_EQ(microbench_plan(small, true).footprints.size(), 2u);
}

TEST(MicrobenchPlan, AQuickOneTakesTheBestMethodsThatTheDeviceHas) {
  const MicrobenchPlan quick = microbench_plan(h200(), false);
  ASSERT_EQ(quick.methods.size(), 2u);
  EXPECT_EQ(quick.methods[1].entry, kReadRing);
  EXPECT_EQ(quick.footprints.size(), 1u);
  EXPECT_FALSE(quick.footprints[0].resident);
  DeviceFacts old = h200();
  old.target = "sm_80";
  EXPECT_EQ(microbench_plan(old, false).methods[1].entry, kReadEvictFirst);
  EXPECT_NE(microbench_plan(old, true).methods[2].skipped.find("sm_80"), std::string::npos);
  DeviceFacts narrow = h200();
  narrow.target = "sm_120", narrow.shared_per_block = 101376;
  EXPECT_EQ(microbench_plan(narrow, true).methods[2].slots, 5u);
}

}  // namespace
}  // namespace onelaunch::sandbox
