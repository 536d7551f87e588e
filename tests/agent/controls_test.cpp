#include "agent/loop/controls.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace onelaunch::agent
