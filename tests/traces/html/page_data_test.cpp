// What a browser gets to read: the JSON and the sources inside a written site, whatever texts the trace holds.
#include "traces/html/site.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/blobs.h"
#include "traces/event_json.h"
#include "traces/html/session_document.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kHostile =
    "</script><script>alert(1)</script><!-- <script> ]]> &lt; \" ' \\ @DATA@ @TITLE@ \xE2\x80\xA8 \xF0\x9F\x9A\x80 \x01";

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// As a browser finds it: up to the first end tag.
Json data_of(const fs::path& page) {
  const std::string text = content_of(page), open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = text.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find("</script", begin);
  return Json::parse(text.substr(begin + open.size(), end - begin - open.size()), nullptr, false);
}

class PageData : public RunFixture {
 protected:
  // A small session whose two sources are there.
  fs::path session(const std::string& name, const SessionShape& shape = {}, const std::string& seed = "int seed;\n",
                   const std::string& best = "int best;\n") {
    fs::create_directories(folder_ / name);
    const std::string first = store_blob(folder_ / name, seed).value(), second = store_blob(folder_ / name, best).value();
    return write_run(name, small_session(shape, first, second));
  }
  fs::path site() const { return folder_ / "site"; }
  Json row(const fs::path& board, std::size_t i) const { return data_of(board)["rows"].at(i); }
};

TEST_F(PageData, AnUnfinishedSessionHasAPageToo) {
  ASSERT_TRUE(write_session_site(session("a", {.finished = false, .regraded = false}), site()));
  const Json data = data_of(site() / "index.html");
  EXPECT_FALSE(data["result"]["ended"].get<bool>());
  EXPECT_FALSE(data["result"]["verified"].get<bool>());
}

TEST_F(PageData, NoTextBreaksOutOfAPage) {
  std::vector<Event> events = small_session({.agent = kHostile}, some_hash('1'), some_hash('2'));
  events.push_back(Note{.author = "agent", .text = kHostile});
  ASSERT_TRUE(write_session_site(session("plain"), folder_ / "plain_site"));
  ASSERT_TRUE(write_session_site(write_run("hostile", events), site()));
  const std::string plain = content_of(folder_ / "plain_site/index.html"), page = content_of(site() / "index.html");
  EXPECT_EQ(times_in(page, "<script"), times_in(plain, "<script"));
  EXPECT_EQ(times_in(page, "</script"), times_in(plain, "</script"));
  EXPECT_EQ(times_in(page, "<!--"), 0u);
  const Json data = data_of(site() / "index.html");
  ASSERT_TRUE(data.is_object());
  EXPECT_EQ(data["terms"]["agent"], kHostile) << "and it is still told as it was";
}

TEST_F(PageData, ASourceComesBackAsItWasWhateverItHolds) {
  const std::string source = "const char* s = \"</script>\";\n// \xE2\x80\xA8 \xC3\xA9 \\u0041\r\n\t`${x}`" + kHostile;
  const fs::path run = session("a", {}, source);
  ASSERT_TRUE(write_session_site(run, site()));
  const std::string sha = data_of(site() / "index.html")["attempts"][0]["source"];
  const std::string script = content_of(site() / "sources" / (sha + ".js"));
  const std::string open = "onelaunchSource(\"" + sha + "\",", close = ");\n";
  ASSERT_TRUE(script.starts_with(open));
  ASSERT_TRUE(script.ends_with(close));
  const Json text = Json::parse(script.substr(open.size(), script.size() - open.size() - close.size()), nullptr, false);
  EXPECT_EQ(text, source);
  std::vector<int> beyond_ascii;
  for (const char c : script)
    if (static_cast<unsigned char>(c) > 126) beyond_ascii.push_back(c);
  EXPECT_THAT(beyond_ascii, IsEmpty()) << "so that no line separator or encoding can end the string";
}

TEST_F(PageData, EveryRowOfTheBoardLeadsToItsPage) {
  session("x/run", {.agent = "first", .best_us = 70});
  session("y/run", {.agent = "second", .best_us = 80});
  session("z", {.agent = "third", .kind = "measured"});
  ASSERT_TRUE(write_board_site(make_board({folder_}).value(), site()));
  std::set<std::string> pages;
  for (std::size_t i = 0; i < 3; ++i) {
    const Json one = row(site() / "index.html", i);
    const std::string page = one["page"];
    EXPECT_TRUE(pages.insert(page).second) << "runs of one name have pages of their own";
    EXPECT_EQ(data_of(site() / page)["terms"]["agent"], one["agent"]);
    EXPECT_THAT(content_of(site() / page), HasSubstr("<a href=\"index.html\">"));
  }
}

TEST_F(PageData, ABoardWithHostileRowsHoldsNoMoreScriptsThanAnEmptyOne) {
  fs::create_directories(folder_ / "none");
  ASSERT_TRUE(write_board_site(make_board({folder_ / "none"}).value(), folder_ / "empty_site"));
  session("<script>", {.agent = kHostile, .task = "</script>"});
  ASSERT_TRUE(write_board_site(make_board({folder_ / "<script>"}).value(), site()));
  const std::string empty = content_of(folder_ / "empty_site/index.html"), page = content_of(site() / "index.html");
  EXPECT_EQ(times_in(page, "<script"), times_in(empty, "<script"));
  EXPECT_EQ(times_in(page, "</script"), times_in(empty, "</script"));
  EXPECT_EQ(row(site() / "index.html", 0)["task"], "</script>");
  EXPECT_THAT(row(site() / "index.html", 0)["page"].get<std::string>(), Not(HasSubstr("<")));
}

TEST_F(PageData, AnEarlierSiteIsReplaced) {
  ASSERT_TRUE(write_session_site(session("a", {.agent = "before"}), site()));
  ASSERT_TRUE(write_session_site(session("b", {.agent = "after"}), site()));
  EXPECT_EQ(data_of(site() / "index.html")["terms"]["agent"], "after");
}

class LongPageData : public PageData {
 protected:
  // The small session with notes up to `count` events; written at once, for a long trace is synced line by line.
  fs::path long_session(std::size_t count) {
    damages_traces_ = true;  // not chained
    std::vector<Event> events = small_session({}, some_hash('1'), some_hash('2'));
    while (events.size() < count) events.push_back(Note{.author = "agent", .text = "note " + std::to_string(events.size())});
    fs::create_directories(folder_ / "long");
    std::ofstream out(folder_ / "long/events.jsonl", std::ios::binary);
    for (std::size_t i = 0; i < events.size(); ++i)
      out << print_record({.seq = i, .t = 0.25 * static_cast<double>(i), .ts = clock_.utc_now(), .prev = some_hash('0'),
                           .event = events[i]}).value() << "\n";
    return folder_ / "long";
  }
};

TEST_F(LongPageData, TenThousandEventsAreAllThere) {
  const Result<SessionDocument> made = session_document(long_session(10000));
  ASSERT_TRUE(made) << made.error().message;
  const Json data = Json::parse(made->json);
  EXPECT_EQ(data["events"].size(), 10000u);
  EXPECT_EQ(data["events_left_out"], 0);
  EXPECT_EQ(data["events"].back()[0], 9999);
  EXPECT_LT(made->json.size(), 2'000'000u);
}

}  // namespace
}  // namespace onelaunch::traces
