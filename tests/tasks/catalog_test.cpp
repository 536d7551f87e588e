#include "tasks/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace onelaunch::tasks {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Catalog : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("ONELAUNCH_TASKS", ONELAUNCH_LIBRARY, 1); }
  void TearDown() override { ::unsetenv("ONELAUNCH_TASKS"); }
};

TEST_F(Catalog, ListsTheLibraryByName) {
  const auto entries = list_tasks(library_folder());
  ASSERT_TRUE(entries) << entries.error().message;
  std::vector<std::string> names;
  for (const CatalogEntry& entry : *entries) {
    names.push_back(entry.name);
    EXPECT_EQ(entry.variants.front(), "full");
    EXPECT_EQ(entry.folder.filename(), entry.name);
    EXPECT_FALSE(entry.title.empty());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("kimi_linear_decode", "llama_block_decode", "rmsnorm_linear"));
}

TEST_F(Catalog, LoadsEveryVariantOfEveryTaskWithItsSeed) {
  const auto entries = list_tasks(library_folder());
  ASSERT_TRUE(entries);
  for (const CatalogEntry& entry : *entries)
    for (const std::string& variant : entry.variants) {
      const Result<Task> task = load_task(entry.name, variant);
      ASSERT_TRUE(task) << task.error().message;
      EXPECT_EQ(task->variant, variant);
      const Result<std::string> seed = seed_kernel(*task);
      ASSERT_TRUE(seed) << seed.error().message;
      EXPECT_THAT(*seed, AllOf(HasSubstr("#include <onelaunch.cuh>"), HasSubstr("megakernel")));
    }
}

TEST_F(Catalog, AnswersAnUnknownNameWithTheKnownOnes) {
  const Result<Task> task = load_task("kimi", "");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().kind, Error::Kind::invalid_input);
  EXPECT_THAT(task.error().message,
              AllOf(HasSubstr("\"kimi\""), HasSubstr("rmsnorm_linear"), HasSubstr("llama_block_decode")));
}

TEST_F(Catalog, TakesAPathToAFileOrItsFolder) {
  const std::string folder = std::string(ONELAUNCH_LIBRARY) + "/rmsnorm_linear";
  EXPECT_TRUE(load_task(folder, ""));
  EXPECT_TRUE(load_task(folder + "/task.json", "tiny"));
  EXPECT_FALSE(load_task(folder + "/other.json", ""));
}

TEST_F(Catalog, DoesNotLeaveTheLibraryByName) { EXPECT_FALSE(load_task("..", "")); }

TEST_F(Catalog, SaysWhichFolderItCouldNotRead) {
  const auto entries = list_tasks("/nonexistent/library");
  ASSERT_FALSE(entries);
  EXPECT_THAT(entries.error().message, HasSubstr("/nonexistent/library"));
}

}  // namespace
}  // namespace onelaunch::tasks
