#include "sandbox/host/compile_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace onelaunch::sandbox {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "onelaunch-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    reply_.status = CompileReply::Status::compiled;
    reply_.ptx = "ptx";
    reply_.cubin = std::string("\0cubin", 6);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path only_file() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) return entry.path();
    return {};
  }
  fs::path folder_;
  CompileReply reply_;
};

TEST_F(Cache, ReturnsWhatWasStored) {
  const CompileCache cache(folder_);
  EXPECT_FALSE(cache.find("aa11"));
  ASSERT_TRUE(cache.store("aa11", reply_));
  const auto found = cache.find("aa11");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, reply_.cubin);
}

TEST_F(Cache, TreatsADamagedEntryAsMissing) {
  const CompileCache cache(folder_);
  ASSERT_TRUE(cache.store("aa11", reply_));
  std::string content = read_file(only_file(), 1 << 20).value();
  const std::string whole = content;
  content[content.size() / 2] ^= 1;
  std::ofstream(only_file(), std::ios::binary) << content;
  EXPECT_FALSE(cache.find("aa11"));
  std::ofstream(only_file(), std::ios::binary) << whole.substr(0, 20);
  EXPECT_FALSE(cache.find("aa11"));
  std::ofstream(only_file(), std::ios::binary) << whole;
  EXPECT_TRUE(cache.find("aa11"));
}

TEST_F(Cache, KeepsNoTimeoutsAndCrashes) {
  const CompileCache cache(folder_);
  reply_.status = CompileReply::Status::timed_out;
  ASSERT_TRUE(cache.store("aa11", reply_));
  EXPECT_FALSE(cache.find("aa11"));
}

TEST(CacheKey, DependsOnEverythingThatGoesIn) {
  CompileJob job;
  job.source = "ab";
  job.header = "c";
  job.options = {"-DX=1"};
  const std::string key = CompileCache::key(job, "13.0");
  EXPECT_EQ(key, CompileCache::key(job, "13.0"));
  EXPECT_NE(key, CompileCache::key(job, "12.9"));
  CompileJob other = job;
  other.source = "a", other.header = "bc";
  EXPECT_NE(key, CompileCache::key(other, "13.0"));
  other = job;
  other.options = {"-DX=2"};
  EXPECT_NE(key, CompileCache::key(other, "13.0"));
}

}  // namespace
}  // namespace onelaunch::sandbox
