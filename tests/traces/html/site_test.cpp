#include "traces/html/site.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/traces/run_fixture.h"
#include "tests/traces/sample_events.h"
#include "traces/blobs.h"
#include "traces/html/session_document.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class SiteTest : public RunFixture {
 protected:
  fs::path session(const std::string& name, const SessionShape& shape = {}, const std::vector<Event>& more = {}) {
    seed_ = store_blob(folder_ / name, "one\n").value();
    other_ = store_blob(folder_ / name, "two </script>\n").value();
    std::vector<Event> events = small_session(shape, seed_, other_);
    events.insert(events.end() - 1, more.begin(), more.end());
    return write_run(name, events);
  }
  Json document(const fs::path& run) { return Json::parse(session_document(run).value().json); }

  std::string seed_, other_;
};

TEST_F(SiteTest, WritesAPageWithItsAssetsAndSourcesAndNothingFromElsewhere) {
  const fs::path site = folder_ / "site";
  ASSERT_TRUE(write_session_site(session("run"), site));
  for (const char* name : {"index.html", "assets/report.css", "assets/report.js", "assets/chart.js", "assets/highlight.js"})
    EXPECT_GT(fs::file_size(site / name), 500u) << name;
  const std::string page = content_of(site / "index.html");
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("@DATA@")));
  EXPECT_THAT(page, Not(HasSubstr("All sessions"))) << "there is no board to go back to";
  EXPECT_THAT(content_of(site / "assets/report.css"), Not(HasSubstr("http")));
  EXPECT_THAT(content_of(site / "sources" / (other_ + ".js")), HasSubstr("two </script>"));
}

TEST_F(SiteTest, DocumentHoldsAttemptsWithTimesVerdictsAndWhatChanged) {
  const Json json = document(session("run"));
  ASSERT_EQ(json["attempts"].size(), 4u);
  EXPECT_EQ(json["attempts"][1]["outcome"], "wrong_answer");
  EXPECT_TRUE(json["attempts"][1]["us"].is_null());
  EXPECT_THAT(json["attempts"][1]["failure"].get<std::string>(), HasSubstr("y[17] got 0.5"));
  EXPECT_EQ(json["attempts"][2]["us"], 80);
  EXPECT_EQ(json["attempts"][2]["verdict"], "keep");
  EXPECT_EQ(json["attempts"][2]["changes"], "new source, SPLIT 1->4");
  EXPECT_GT(json["attempts"][2]["t"].get<double>(), json["attempts"][2]["proposed"].get<double>());
  EXPECT_EQ(json["kind"], "modelled");
  EXPECT_EQ(json["result"]["best_us"], 80);
  EXPECT_EQ(json["contexts"][1]["floor_us"], 20);
  EXPECT_EQ(json["contexts"][1]["baseline_us"], 800);
  EXPECT_EQ(json["baselines"][0]["headline"], true);
}

TEST_F(SiteTest, DocumentAddsUpWhatTheModelCost) {
  ModelResponse response{.provider = "p", .model = "m", .turn = 1, .input_tokens = 10, .output_tokens = 5, .cost_usd = 0.5};
  const Json paid = document(session("paid", {}, {response, response}));
  EXPECT_EQ(paid["spend"][1][1], 10);
  EXPECT_EQ(paid["spend"][1][2], 1.0);
  response.cost_usd.reset();
  const Json untold = document(session("untold", {}, {response}));
  EXPECT_TRUE(untold["totals"]["cost_usd"].is_null()) << "not told is not free";
}

TEST_F(SiteTest, PhasesOfTheBestComeFromItsProfile) {
  const Profile of_best{.candidate = "c2", .context = 96, .phases = {{.name = "kda", .bound = "memory", .us = 12, .dram_mb = 3}}};
  const Profile of_other{.candidate = "c3", .context = 96, .phases = {{.name = "not this", .us = 1}}};
  const Json json = document(session("run", {}, {of_best, of_other}));
  ASSERT_EQ(json["phases"].size(), 1u);
  EXPECT_EQ(json["phases"][0]["phases"][0]["name"], "kda");
}

TEST_F(SiteTest, SaysWhichSourcesAreMissing) {
  const fs::path run = session("run");
  fs::remove(run / "blobs" / other_);
  const Json json = document(run);
  EXPECT_TRUE(json["missing_sources"].contains(other_));
  EXPECT_FALSE(json["missing_sources"].contains(seed_));
}

TEST_F(SiteTest, LeavesOutPassedGatesFirstWhenASessionIsVeryLong) {
  const std::vector<Event> many(50, Gate{.candidate = "c2", .stage = "correctness", .verdict = "pass"});
  const fs::path run = session("run", {}, many);
  const Json json = Json::parse(session_document(run, 40).value().json);
  EXPECT_EQ(json["events_left_out"], 50 + 3);
  EXPECT_LT(json["events"].size(), 40u);
  EXPECT_EQ(Json::parse(session_document(run, 5).value().json)["events"].size(), 5u) << "then the oldest";
  EXPECT_EQ(json["events"].back()[2], "session_end");
}

TEST_F(SiteTest, NothingInATraceEndsTheScriptThatHoldsIt) {
  const fs::path site = folder_ / "site";
  ASSERT_TRUE(write_session_site(session("run", {.agent = "<b>&\"x\""}, {Note{.author = "a", .text = "</script><script>"}}), site));
  const std::string page = content_of(site / "index.html");
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>"));
  EXPECT_THAT(page, HasSubstr("<title>rmsnorm_linear, &lt;b&gt;&amp;&quot;x&quot;</title>"));
}

TEST_F(SiteTest, BoardLinksEachRunToAPageOfItsOwn) {
  session("a/run", {.agent = "one"});
  session("b/run", {.agent = "two", .best_us = 70});
  const fs::path site = folder_ / "site";
  ASSERT_TRUE(write_board_site(make_board({folder_}).value(), site));
  const std::string page = content_of(site / "index.html");
  EXPECT_THAT(page, HasSubstr("\"page\":\"session-run.html\""));
  EXPECT_THAT(page, HasSubstr("\"page\":\"session-run-2.html\""));
  EXPECT_THAT(content_of(site / "session-run-2.html"), HasSubstr("All sessions"));
}

TEST_F(SiteTest, SaysWhatIsWrongWhenItCannotReadOrWrite) {
  EXPECT_EQ(write_session_site(folder_ / "none", folder_ / "site").error().kind, Error::Kind::invalid_input);
  put(folder_ / "file", "x");
  const Result<void> written = write_session_site(session("run"), folder_ / "file");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cannot make"));
}

}  // namespace
}  // namespace onelaunch::traces
