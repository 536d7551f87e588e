#include "agent/loop/controls.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tasks/catalog.h"

namespace onelaunch::agent {
namespace {

TEST(ControlKernels, WriteZerosToEveryOutputOfAnyTask) {
  tasks::Task task;
  task.tensors.push_back({.name = "layer.0.y", .role = tasks::Role::output, .dtype = tasks::DType::bf16, .shape = {4}});
  task.tensors.push_back({.name = "w", .role = tasks::Role::weight, .dtype = tasks::DType::bf16, .shape = {4}});
  const auto controls = control_kernels(task);
  ASSERT_EQ(controls.size(), 2u);
  EXPECT_EQ(controls[0].name, "returns");
  EXPECT_EQ(controls[0].source.find("args."), std::string::npos);
  EXPECT_EQ(controls[1].name, "zeros");
  EXPECT_NE(controls[1].source.find("args.layer[0].y"), std::string::npos) << controls[1].source;
  EXPECT_NE(controls[1].source.find("i < 8u"), std::string::npos) << "four bf16 values are eight bytes";
  EXPECT_EQ(controls[1].source.find("args.w"), std::string::npos);
}

std::vector<std::string> names_for(const std::string& name, const std::string& variant) {
  const auto task = tasks::load_task(name, variant);
  EXPECT_TRUE(task) << task.error().message;
  std::vector<std::string> names;
  for (const ControlKernel& control : control_kernels(*task)) names.push_back(control.name);
  return names;
}

TEST(ControlKernels, AreDerivedFromASeedWithLayersAndStates) {
  const std::vector<std::string> all = {"returns", "zeros", "stale_output", "skipped_layer", "frozen_state"};
  EXPECT_EQ(names_for("kimi_linear_decode", "tiny"), all);
  EXPECT_EQ(names_for("llama_block_decode", "full"), all);
}

TEST(ControlKernels, AreDerivedAtFullSizeTooButNotRunThereOnAnEmulator) {
  const auto task = tasks::load_task("kimi_linear_decode", "full");
  ASSERT_TRUE(task);
  const auto controls = control_kernels(*task);
  EXPECT_EQ(std::ranges::count_if(controls, &ControlKernel::derived), 3);
  EXPECT_TRUE(affords_derived_controls(*task, false));
  EXPECT_FALSE(affords_derived_controls(*task, true));
  EXPECT_TRUE(affords_derived_controls(*tasks::load_task("kimi_linear_decode", "tiny"), true));
}

TEST(ControlKernels, AreNotDerivedWhereTheSeedHasNoLayers) {
  EXPECT_EQ(names_for("rmsnorm_linear", "tiny"), (std::vector<std::string>{"returns", "zeros"}));
}

TEST(ControlKernels, DifferFromTheSeedAndFromEachOther) {
  const auto task = tasks::load_task("kimi_linear_decode", "tiny");
  ASSERT_TRUE(task);
  const auto seed = tasks::seed_kernel(*task);
  ASSERT_TRUE(seed);
  const auto controls = control_kernels(*task);
  for (std::size_t i = 0; i < controls.size(); ++i) {
    EXPECT_NE(controls[i].source, *seed) << controls[i].name;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(controls[i].source, controls[j].source);
  }
}

}  // namespace
}  // namespace onelaunch::agent
