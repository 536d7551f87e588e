#include "agent/loop/profile_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/cli/profile_json.h"
#include "sandbox/host/sandbox.h"

namespace onelaunch::agent {
namespace {

sandbox::KernelProfile a_profile() {
  sandbox::KernelProfile profile;
  profile.modelled = false;
  profile.context = 2048, profile.launches = 20;
  profile.launch_us = {104, 105, 109}, profile.unmarked_us = {100, 101, 102};
  profile.token_us = 103, profile.critical_us = 90, profile.barrier_us = 11, profile.barriers = 9;
  profile.floor_mb = 243, profile.floor_us = 52;
  profile.phases = {{.name = "kda.project", .passes = 3, .blocks = 132, .us = {30, 31, 36}, .wait_us = {1, 2, 5}, .share = 0.3, .critical_us = 34,
                     .stragglers = {17, 5}, .floor_mb = 100}};
  profile.probes = {{.name = "moe.0.h", .dtype = "bf16", .elements = 2304, .copied = 2304, .ok = true},
                    {.name = "moe.1.h", .dtype = "bf16", .elements = 2304, .copied = 2304, .ok = false, .worst = 7, .detail = "element 7 is 1 where 2 is expected"}};
  profile.resources = {.registers = 168, .block = 544, .grid = 128, .blocks_per_sm = 1, .bound = "registers", .occupancy = 0.27};
  profile.sass.tool = "nvdisasm", profile.sass.instructions = 9000;
  profile.sass.classes = {{"IDP", 800}, {"LDS", 300}}, profile.sass.pipes = {{"fma", 800}, {"memory", 300}};
  profile.sass.loops = {{.place = "0x10..0x90", .instructions = 9, .depth = 2, .classes = {{"IDP", 4}}, .pipes = {{"fma", 4}}}};
  return profile;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(ProfileReport, SaysWhereTheTimeGoesAndWhatIsWrong) {
  const std::string text = profile_text(a_profile());
  for (const char* words : {"measured", "103.00 us from the first stamp", "101.00 us without marks", "kda.project", "slow: 17 5", "floor 21.40 us",
                            "90.00 us of work", "WRONG moe.1.h", "element 7", "ok    moe.0.h", "168 registers", "IDP 800 LDS 300", "loop 0x10..0x90, depth 2"})
    EXPECT_TRUE(says(text, words)) << words << "\n" << text;
  EXPECT_LT(text.find("moe.1.h"), text.find("moe.0.h")) << "what is wrong comes first";
}

TEST(ProfileReport, SaysWhyThereIsNone) {
  sandbox::KernelProfile profile;
  profile.outcome = sandbox::CompileFailed{"kernel.cu(3): error"};
  EXPECT_TRUE(says(profile_text(profile), "kernel.cu(3): error")) << profile_text(profile);
}

TEST(ProfileReport, OfWrongResultsSaysThatFirst) {
  sandbox::KernelProfile profile = a_profile();
  profile.wrong = "element 3 of y";
  const std::string text = profile_text(profile);
  EXPECT_TRUE(says(text, "element 3 of y"));
  EXPECT_LT(text.find("element 3 of y"), text.find("kda.project"));
}

TEST(ProfileReport, WithoutADisassemblerSaysSo) {
  sandbox::KernelProfile profile = a_profile();
  profile.sass = {};
  profile.sass.problem = "neither is installed";
  EXPECT_TRUE(says(profile_text(profile), "no report: neither is installed"));
}

TEST(ProfileEvent, HoldsWhatTheTextSays) {
  const traces::Profile event = profile_event("c3", a_profile());
  EXPECT_EQ(event.candidate, "c3");
  EXPECT_EQ(event.kind, "measured");
  EXPECT_EQ(event.context, 2048);
  EXPECT_EQ(event.token_us, 103);
  EXPECT_EQ(event.unmarked_us, 101);
  ASSERT_EQ(event.phases.size(), 1u);
  EXPECT_EQ(event.phases[0].us, 31);
  EXPECT_EQ(event.phases[0].us_high, 36);
  EXPECT_EQ(event.phases[0].wait_us, 2);
  EXPECT_EQ(event.phases[0].critical_us, 34);
  EXPECT_EQ(event.phases[0].blocks, 132);
}

TEST(ProfileJson, IsWhatProgramsRead) {
  const auto json = nlohmann::json::parse(cli::profile_json(a_profile(), {.kind = "cuda", .name = "NVIDIA H200"}));
  EXPECT_EQ(json.at("outcome"), "passed");
  EXPECT_EQ(json.at("kind"), "measured");
  EXPECT_EQ(json.at("phases").at(0).at("us").at("median"), 31);
  EXPECT_EQ(json.at("phases").at(0).at("dram_mb"), nullptr);
  EXPECT_EQ(json.at("probes").at(1).at("ok"), false);
  EXPECT_EQ(json.at("sass").at("loops").at(0).at("depth"), 2);
  EXPECT_EQ(json.at("device").at("name"), "NVIDIA H200");
}

}  // namespace
}  // namespace onelaunch::agent
