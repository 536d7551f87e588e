// Every header compiles alone, so that a file may include it first.
#include <gtest/gtest.h>
#include <stdio.h>

#include <string>

#include "tests/architecture/source_tree.h"

namespace onelaunch::architecture {
namespace {

constexpr int kShards = 4;

struct Output {
  int status;
  std::string text;
};

Output run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string text;
  char part[4096];
  for (std::size_t got; (got = ::fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, got);
  return {::pclose(pipe), text};
}

std::string syntax_check(const std::string& file) {
  return std::string(ONELAUNCH_CXX) + " -std=c++20 -fsyntax-only -w " + ONELAUNCH_CXX_INCLUDES + " -I " +
         project_root().string() + " -x c++ " + file;
}

class Headers : public testing::TestWithParam<int> {};

TEST_P(Headers, CompileAlone) {
  auto headers = source_files({".h"});
  std::erase_if(headers, [](const auto& file) { return file.string().starts_with("tests/"); });
  ASSERT_GE(headers.size(), 40u);
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < headers.size(); i += kShards) {
    const Output output = run(syntax_check((project_root() / headers[i]).string()));
    EXPECT_EQ(output.status, 0) << headers[i] << "\n" << output.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, Headers, testing::Range(0, kShards));

TEST(HeaderCheck, SeesAHeaderThatDoesNotCompile) {
  EXPECT_NE(run("echo 'inline Missing x;' | " + std::string(ONELAUNCH_CXX) + " -fsyntax-only -x c++ -").status, 0);
}

}  // namespace
}  // namespace onelaunch::architecture
