#include "sandbox/host/gate_report.h"

#include <gtest/gtest.h>

namespace onelaunch::sandbox {
namespace {

tasks::Finding finding(bool ok, std::string tensor, double got, double tolerance) {
  return {.ok = ok, .test = "rel_l2", .tensor = std::move(tensor), .index = 0, .got = got, .want = 0, .tolerance = tolerance, .detail = {}};
}

TEST(GateReport, KeepsTheClosestPassOfEachTestClosestFirst) {
  tasks::Finding scale = finding(true, "y", 1.004, 0.005);
  scale.test = "update_scale", scale.want = 1;
  GateReport report;
  EXPECT_TRUE(report.add({finding(true, "y", 0.001, 0.01), finding(true, "S", 0.006, 0.01)}, {.context = 32, .step = 0}));
  EXPECT_TRUE(report.add({finding(true, "y", 0.005, 0.01), scale}, {.context = 96, .step = 3}));
  const std::vector<GateResult> gates = report.gates();
  ASSERT_EQ(gates.size(), 2u);
  EXPECT_EQ(gates[0].test, "update_scale");
  EXPECT_EQ(gates[0].step, 3);
  EXPECT_EQ(gates[1].tensor, "S");
  EXPECT_EQ(gates[1].context, 32);
}

TEST(GateReport, ShowsOnlyFailuresOnceThereIsOne) {
  GateReport report;
  EXPECT_FALSE(report.add({finding(true, "y", 0.001, 0.01), finding(false, "S", 0.5, 0.01)},
                          {.context = 32, .step = 1, .seed = 7, .strict = true}));
  const std::vector<GateResult> gates = report.gates();
  ASSERT_EQ(gates.size(), 1u);
  EXPECT_FALSE(gates[0].passed);
  EXPECT_EQ(gates[0].seed, 7u);
  EXPECT_EQ(report.first_failure(),
            "rel_l2 of S fails at 0: got 0.5, want 0, tolerance 0.01: 50.00 times what is allowed (context 32, step 1, strict inputs)");
}

}  // namespace
}  // namespace onelaunch::sandbox
