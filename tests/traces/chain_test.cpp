#include "traces/chain.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace onelaunch::traces {
namespace {

struct Line {
  std::string text;
  std::uint64_t seq;
  std::string prev;
};

std::vector<Line> honest(std::size_t n) {
  std::vector<Line> lines;
  std::string prev(64, '0');
  for (std::size_t i = 0; i < n; ++i) {
    lines.push_back({"line " + std::to_string(i) + " after " + prev, i, prev});
    prev = sha256_hex(lines.back().text);
  }
  return lines;
}

std::vector<std::uint64_t> bad_lines(const std::vector<Line>& lines) {
  Chain chain;
  for (const Line& line : lines) chain.add(line.text, line.seq, line.prev);
  chain.finish();
  std::vector<std::uint64_t> bad;
  for (const Defect& defect : chain.defects()) bad.push_back(defect.line);
  return bad;
}

TEST(Chain, HoldsOverHonestLines) { EXPECT_TRUE(bad_lines(honest(5)).empty()); }

TEST(Chain, HeadIsTheHashOfTheLastLine) {
  Chain chain;
  EXPECT_EQ(chain.head(), std::string(64, '0'));
  chain.add("abc", 0, std::string(64, '0'));
  EXPECT_EQ(chain.head(), sha256_hex("abc"));
}

TEST(Chain, NamesTheLineThatWasChanged) {
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<Line> lines = honest(5);
    lines[i].text += "!";
    EXPECT_EQ(bad_lines(lines), std::vector<std::uint64_t>{i + 1});
  }
}

TEST(Chain, NamesTheLineWhoseLinkWasChanged) {
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<Line> lines = honest(5);
    lines[i].prev[0] = lines[i].prev[0] == 'f' ? 'e' : 'f';
    lines[i].text += " with another prev";
    EXPECT_EQ(bad_lines(lines), std::vector<std::uint64_t>{i + 1}) << i;
  }
}

TEST(Chain, NamesTheLineAfterAGap) {
  std::vector<Line> lines = honest(5);
  lines.erase(lines.begin() + 2);
  EXPECT_EQ(bad_lines(lines), std::vector<std::uint64_t>{3});
}

TEST(Chain, SeesLinesThatWereSwappedOrDoubled) {
  std::vector<Line> swapped = honest(5), doubled = honest(5);
  std::swap(swapped[1], swapped[2]);
  ASSERT_FALSE(bad_lines(swapped).empty());
  EXPECT_EQ(bad_lines(swapped).front(), 2u);
  doubled.insert(doubled.begin() + 2, doubled[1]);
  ASSERT_FALSE(bad_lines(doubled).empty());
  EXPECT_EQ(bad_lines(doubled).front(), 3u);
}

TEST(Chain, SeesThatTheBeginningIsMissing) {
  std::vector<Line> lines = honest(5);
  lines.erase(lines.begin());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].seq = i;
  EXPECT_EQ(bad_lines(lines), std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace onelaunch::traces
