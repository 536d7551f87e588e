#include "agent/loop/best_kernel.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/agent/temporary_folder.h"

namespace onelaunch::agent {
namespace {

std::string content(const std::filesystem::path& path) { return read_file(path, 1 << 20).value_or("<none>"); }

TEST(WithDefaults, SetsTheDefaultsOfTheDeclaredTunablesOnly) {
  const std::string source =
      "OL_TUNABLE(BLOCK, 128, 128, 256)\nOL_TUNABLE ( ROWS ,\n 2 , 2, 4)\nOL_TUNABLE(BLOCKS, 1, 2)\n";
  EXPECT_EQ(with_defaults(source, {{"BLOCK", "256"}, {"ROWS", "4"}, {"NONE", "7"}}),
            "OL_TUNABLE(BLOCK, 256, 128, 256)\nOL_TUNABLE ( ROWS ,\n 4 , 2, 4)\nOL_TUNABLE(BLOCKS, 1, 2)\n");
}

TEST(ReplaceBest, ReplacesTheWholeFolder) {
  const TemporaryFolder run;
  ASSERT_TRUE(replace_best(run.path(), {.source = "one", .cubin = "1", .card = "{}"}));
  ASSERT_TRUE(replace_best(run.path(), {.source = "two", .cubin = "2", .card = "{2}"}));
  EXPECT_EQ(content(run.path() / "best" / "kernel.cu"), "two");
  EXPECT_EQ(content(run.path() / "best" / "kernel.cubin"), "2");
  EXPECT_EQ(content(run.path() / "best" / "card.json"), "{2}");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run.path()), {}), 1) << "nothing else is left behind";
}

TEST(ReplaceBest, SaysSoWhenTheRunCannotBeWritten) {
  const auto saved = replace_best("/proc/onelaunch-none", {.source = "one", .cubin = "", .card = ""});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, Error::Kind::unavailable);
}

TEST(PublishBest, NamesTheFolderByTheKernel) {
  const TemporaryFolder run;
  ASSERT_TRUE(replace_best(run.path(), {.source = "one", .cubin = "1", .card = "{}"}));
  const auto place = publish_best(run.path(), run.path() / "published");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->filename().string().size(), 12u);
  EXPECT_EQ(content(*place / "kernel.cu"), "one");
  EXPECT_EQ(content(*place / "card.json"), "{}");
}

}  // namespace
}  // namespace onelaunch::agent
