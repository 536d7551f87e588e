#include "tasks/header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tasks/minimal_task.h"

namespace onelaunch::tasks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CandidateHeader, StatesDimsAndTypedPointers) {
  const std::string header = candidate_header(parsed(minimal_task()));
  EXPECT_THAT(header, HasSubstr("constexpr long long hidden = 256;"));
  EXPECT_THAT(header, HasSubstr("const bf16* norm;"));
  EXPECT_THAT(header, HasSubstr("Int4 up;"));
  EXPECT_THAT(header, HasSubstr("layer_t layer[2];"));
  EXPECT_THAT(header, HasSubstr("const bf16* token;"));
  EXPECT_THAT(header, HasSubstr("  bf16* y;"));
  EXPECT_THAT(header, HasSubstr("  bf16* cache;"));
}

TEST(ArgsLayout, PlacesMembersInFileOrderWithArraysTogether) {
  const ArgsLayout layout = args_layout(parsed(minimal_task()));
  // layer[0]: norm, up (3 words), k, cache: 6 words.
  EXPECT_EQ(layout.pointers.at("layer.0.norm"), 0u);
  EXPECT_EQ(layout.pointers.at("layer.0.up.scale"), 16u);
  EXPECT_EQ(layout.pointers.at("layer.0.cache"), 40u);
  EXPECT_EQ(layout.pointers.at("layer.1.norm"), 48u);
  EXPECT_EQ(layout.pointers.at("token"), 96u);
  EXPECT_EQ(layout.pointers.at("y"), 104u);
  EXPECT_EQ(layout.position, 112u);
  EXPECT_EQ(layout.scratch, 152u);
  EXPECT_EQ(layout.bytes, 160u);
}

TEST(ArgsLayout, GivesPrepareKernelsTheWeightsOnly) {
  const ArgsLayout layout = prepare_args_layout(parsed(minimal_task()));
  EXPECT_EQ(layout.pointers.size(), 10u);
  EXPECT_FALSE(layout.pointers.contains("token"));
  EXPECT_EQ(layout.pointers.at("layer.1.norm"), 40u);
  EXPECT_EQ(layout.prepared, 80u);
  EXPECT_EQ(layout.bytes, 88u);
  EXPECT_EQ(layout.position, ArgsLayout::npos);
  EXPECT_EQ(layout.sync, ArgsLayout::npos);
}

TEST(ArgsLayout, SortsArrayElementsByNumber) {
  const std::string text = replaced(minimal_task(), "\"layers\": 2", "\"layers\": 12");
  const ArgsLayout layout = args_layout(parsed(text));
  EXPECT_EQ(layout.pointers.at("layer.10.norm"), 10u * 48);
  EXPECT_EQ(layout.pointers.at("layer.2.norm"), 2u * 48);
}

}  // namespace
}  // namespace onelaunch::tasks
