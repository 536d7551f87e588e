#include "agent/llm/sse.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace onelaunch::llm {
namespace {

std::vector<std::string> events_of(const std::string& bytes, std::size_t piece, std::size_t limit = 1 << 20) {
  std::vector<std::string> events;
  const auto sink = [&](SseEvent event) { events.push_back(event.name + "|" + event.data); };
  SseParser parser(limit);
  for (std::size_t at = 0; at < bytes.size(); at += piece) parser.feed(bytes.substr(at, piece), sink);
  parser.finish(sink);
  return events;
}

using Events = std::vector<std::string>;

TEST(SseParser, ReadsEventsWhateverThePieces) {
  const std::string stream =
      "\xEF\xBB\xBF"
      "event: a\ndata: 1\n\n"
      ": a comment\ndata:2\ndata: 3\n\n"
      "event: lonely\n\n"
      "id: 7\nretry: 10\ndata\r\n\r\n"
      "data: é核🚀\r\rdata: last";
  const Events expected = {"a|1", "|2\n3", "|", "|é核🚀", "|last"};
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) EXPECT_EQ(events_of(stream, piece), expected) << piece;
}

TEST(SseParser, TakesOneLineEndForOneWhenItsHalvesComeApart) {
  EXPECT_EQ(events_of("data: a\r\ndata: b\r\n\r\n", 1), Events{"|a\nb"});
}

TEST(SseParser, KeepsOneSpaceOfTwo) { EXPECT_EQ(events_of("data:  a\n\n", 100), Events{"| a"}); }

TEST(SseParser, EndsAtAnEventThatIsTooLarge) {
  SseParser parser(100);
  int events = 0;
  const auto sink = [&](SseEvent) { ++events; };
  EXPECT_TRUE(parser.feed("data: small\n\n", sink));
  EXPECT_FALSE(parser.feed("data: " + std::string(200, 'x'), sink));
  EXPECT_FALSE(parser.feed("\n\ndata: small\n\n", sink)) << "for good";
  parser.finish(sink);
  EXPECT_EQ(events, 1);
}

TEST(SseParser, CountsTheLinesOfAnEventTogether) {
  SseParser parser(100);
  const auto sink = [](SseEvent) {};
  bool fits = true;
  for (int i = 0; i < 20 && fits; ++i) fits = parser.feed("data: 0123456789\n", sink);
  EXPECT_FALSE(fits);
}

TEST(SseParser, SurvivesNoise) {
  std::mt19937 random(1);
  const std::string alphabet = "data: event\r\n\r\n::\xEF\xBB\xBF{}\0x";
  for (int run = 0; run < 300; ++run) {
    std::string bytes;
    for (int i = 0; i < 400; ++i) bytes += alphabet[random() % alphabet.size()];
    EXPECT_EQ(events_of(bytes, 1), events_of(bytes, 13));
  }
}

}  // namespace
}  // namespace onelaunch::llm
