#include "agent/llm/http.h"

#include <gtest/gtest.h>

#include "tests/agent/llm/chat_fixture.h"
#include "tests/agent/llm/variables.h"

namespace onelaunch::llm {
namespace {

class Http : public testing::Test {
 protected:
  HttpAnswer post(const std::string& url) {
    const HttpLimits limits{Seconds(2), Seconds(5), Seconds(5), Seconds(1), 1 << 20};
    return (*client_)->post({url, {"x: y"}, "body"}, limits, soon(clock_),
                            [this](const HttpAnswer&, std::string_view bytes) {
                              body_ += bytes;
                              return Appetite::more;
                            });
  }
  Variables variables_;
  SystemClock clock_;
  Result<std::unique_ptr<HttpClient>> client_ = HttpClient::open(clock_);
  std::string body_;
};

TEST_F(Http, GoesThroughTheProxyOfTheEnvironment) {
  FakeHttpServer proxy([](const HeardRequest&) { return Answer{.body = "through"}; });
  variables_.set("http_proxy", proxy.url());
  EXPECT_EQ(post("http://model.invalid/v1").end, HttpEnd::complete);
  EXPECT_EQ(body_, "through");
  EXPECT_EQ(proxy.last().target, "http://model.invalid/v1");
  variables_.set("no_proxy", "model.invalid");
  EXPECT_EQ(post("http://model.invalid/v1").end, HttpEnd::no_connection);
}

TEST_F(Http, ReachesThisMachineWithoutAProxy) {
  FakeHttpServer proxy([](const HeardRequest&) { return Answer{.body = "proxy"}; });
  FakeHttpServer server([](const HeardRequest&) { return Answer{.body = "server"}; });
  variables_.set("http_proxy", proxy.url());
  post(server.url());
  EXPECT_EQ(body_, "server");
}

TEST_F(Http, TakesTheCertificatesOfTheEnvironment) {
  FakeHttpServer server([](const HeardRequest&) { return Answer{}; });
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const Variables clean;
    variables_.set(name, "/no/such/certificates");
    const HttpAnswer answer = post("https://127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(answer.end, HttpEnd::unusable) << name << ": " << answer.why;
  }
}

TEST_F(Http, DoesNotTryWhatCannotWork) {
  EXPECT_EQ(post("ftp://127.0.0.1/").end, HttpEnd::unusable);
  EXPECT_EQ(post("http://a b/").end, HttpEnd::unusable);
}

TEST_F(Http, UsesOneConnectionAsLongAsItIsGood) {
  FakeHttpServer server([](const HeardRequest&) { return Answer{.body = "x"}; });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(post(server.url()).end, HttpEnd::complete);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(Http, KeepsTheNamesOfHeadersInLowerCase) {
  FakeHttpServer server([](const HeardRequest&) { return Answer{.status = 503, .headers = {{"Retry-After", " 7 "}}}; });
  const HttpAnswer answer = post(server.url());
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.at("retry-after"), "7");
  EXPECT_EQ(server.last().headers.at("x"), "y");
  EXPECT_EQ(server.last().body, "body");
  EXPECT_FALSE(server.last().headers.contains("expect"));
}

}  // namespace
}  // namespace onelaunch::llm
