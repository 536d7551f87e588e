#pragma once
// A toolbox over a workbench without a session, whose seed has ten lines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "agent/tools/toolbox.h"
#include "tests/fakes/fake_workbench.h"

namespace onelaunch::agent {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

inline constexpr const char* kTen =
    "OL_TUNABLE(A, 1, 1, 2)\n"
    "float one() {\n"
    "  return 1;\n"
    "}\n"
    "float two() {\n"
    "  return 2;\n"
    "}\n"
    "void kernel() {\n"
    "  one();\n"
    "}\n";

struct ToolboxTest : testing::Test {
  ToolboxTest() {
    bench.seed(kTen);
    bench.reports.back().proposal.tunables = {{"A", "1"}};
    toolbox.emplace(bench);
  }

  ToolReply call(const std::string& name, const Json& arguments = Json::object()) {
    return toolbox->call(name, arguments.dump(), Deadline::after(clock, Seconds(600)));
  }
  // It must work.
  std::string text(const std::string& name, const Json& arguments = Json::object()) {
    const ToolReply reply = call(name, arguments);
    EXPECT_FALSE(reply.error) << name << ": " << reply.text;
    return reply.text;
  }
  // It must not.
  std::string error(const std::string& name, const Json& arguments = Json::object()) {
    const ToolReply reply = call(name, arguments);
    EXPECT_TRUE(reply.error) << name << ": " << reply.text;
    EXPECT_FALSE(reply.proposal);
    EXPECT_FALSE(reply.finished);
    return reply.text;
  }
  Report judged(const std::string& source, Verdict verdict, double us, const sandbox::TunableValues& tunables = {{"A", "1"}}) {
    Report report{.proposal = {.source = source, .tunables = tunables, .parent = "c0"}, .verdict = verdict, .outcome = "passed"};
    report.us = us, report.incumbent = "c0", report.over_incumbent = 100 / us;
    return bench.judged(report);
  }

  fakes::FakeClock clock;
  fakes::FakeWorkbench bench{clock};
  std::optional<Toolbox> toolbox;
};

}  // namespace onelaunch::agent
