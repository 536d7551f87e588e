#include "base/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace onelaunch {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "onelaunch-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, ReplacesAFileAndLeavesNoOtherBehind) {
  const auto path = folder_ / "a" / "kernel.cu";
  ASSERT_TRUE(replace_file(path, "first"));
  ASSERT_TRUE(replace_file(path, "second"));
  EXPECT_EQ(read_file(path, 100).value(), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "a"), std::filesystem::directory_iterator()), 1);
}

TEST_F(Files, RefusesAFileOverTheLimitAndSaysTheLimit) {
  ASSERT_TRUE(replace_file(folder_ / "big", "0123456789"));
  const Result<std::string> content = read_file(folder_ / "big", 9);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().kind, Error::Kind::invalid_input);
  EXPECT_NE(content.error().message.find("9 bytes"), std::string::npos);
}

TEST_F(Files, SaysWhichFileIsMissing) {
  const Result<std::string> content = read_file(folder_ / "none", 9);
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().message.find("none"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch
