#include "traces/html/transcript_page.h"

#include <gtest/gtest.h>

namespace onelaunch::traces {
namespace {

Transcript sample() {
  Transcript t;
  t.format = "Some CLI's log";
  t.agent = "some-cli";
  t.model = "model-1";
  t.lacks = {"times", "cost"};
  t.figures = {"geomean 3.2x"};
  t.use.output = 1234;
  t.steps.push_back({.kind = TranscriptStep::Kind::tool_call, .t = 1.5, .text = "cat <a>", .name = "bash"});
  t.steps.push_back({.kind = TranscriptStep::Kind::tool_result, .text = "</pre><script>alert(1)</script>\nmore", .failed = true});
  return t;
}

TEST(TranscriptPage, ShowsWhatIsToldAndWhatIsNot) {
  const std::string page = transcript_page(sample());
  for (const char* words : {"some-cli, model-1", "1234", "Not in this transcript", "<li>cost</li>", "geomean 3.2x", "not told", "nothing in it was checked", "1.5"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
}

TEST(TranscriptPage, TextOfTheTranscriptIsNeverMarkup) {
  const std::string page = transcript_page(sample());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("cat &lt;a&gt;"), std::string::npos);
}

TEST(TranscriptPage, StepsBeyondTheLimitAreCounted) {
  EXPECT_NE(transcript_page(sample(), 1).find("1 later steps are left out"), std::string::npos);
}

TEST(TranscriptPage, ALongTextIsCutBetweenCharacters) {
  Transcript t = sample();
  std::string long_text;
  while (long_text.size() < 30001) long_text += "\xC3\xA9";
  t.steps = {{.text = "x" + long_text}};
  EXPECT_EQ(transcript_page(t).find("\xC3\n"), std::string::npos);
  EXPECT_NE(transcript_page(t).find("bytes more"), std::string::npos);
}

}  // namespace
}  // namespace onelaunch::traces
