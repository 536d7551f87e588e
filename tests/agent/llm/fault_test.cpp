#include "agent/llm/fault.h"

#include <gtest/gtest.h>

#include <ctime>

#include "agent/llm/retry.h"

namespace onelaunch::llm {
namespace {

using Kind = Fault::Kind;

Fault fault(int status, const std::string& body, HttpHeaders headers = {}) {
  return fault_of({HttpEnd::complete, status, std::move(headers), ""}, body);
}

TEST(Fault, IsSortedByCodesBeforeWords) {
  const auto anthropic = [](const char* type, const char* code, const char* message) {
    return std::string(R"({"type":"error","error":{"type":")") + type + R"(","message":")" + message +
           R"(","details":{"error_code":")" + code + R"("}}})";
  };
  EXPECT_EQ(fault(429, anthropic("rate_limit_error", "", "slow")).kind, Kind::transient);
  EXPECT_EQ(fault(429, anthropic("rate_limit_error", "ramp_limit_exceeded", "slow")).kind, Kind::transient);
  EXPECT_EQ(fault(429, anthropic("rate_limit_error", "enforced_spend_limit_reached", "")).kind, Kind::quota);
  EXPECT_EQ(fault(429, anthropic("rate_limit_error", "contract_spend_limit_reached", "")).kind, Kind::quota);
  EXPECT_EQ(fault(529, anthropic("overloaded_error", "", "")).kind, Kind::transient);
  EXPECT_EQ(fault(400, anthropic("invalid_request_error", "", "about an overloaded operator")).kind, Kind::bad_request);
  EXPECT_EQ(fault(400, anthropic("invalid_request_error", "", "You have reached your specified API usage limits")).kind,
            Kind::quota);
}

TEST(Fault, KnowsOpenAisCodes) {
  const auto openai = [](const char* code, const char* message) {
    return std::string(R"({"error":{"message":")") + message + R"(","type":"x","param":null,"code":")" + code +
           R"("}})";
  };
  EXPECT_EQ(fault(429, openai("insufficient_quota", "")).kind, Kind::quota);
  EXPECT_EQ(fault(429, openai("rate_limit_exceeded", "")).kind, Kind::transient);
  EXPECT_EQ(fault(400, openai("context_length_exceeded", "")).kind, Kind::context_full);
  EXPECT_EQ(fault(401, openai("invalid_api_key", "")).kind, Kind::authentication);
  EXPECT_EQ(fault(400, openai("content_policy_violation", "")).kind, Kind::refused);
  EXPECT_EQ(fault(404, openai("model_not_found", "")).kind, Kind::bad_request);
}

TEST(Fault, KnowsGooglesDetails) {
  const std::string busy =
      R"([{"error":{"code":429,"message":"You exceeded your current quota, please check your plan","status":"RESOURCE_EXHAUSTED","details":[)"
      R"({"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"RequestsPerMinute"}]},)"
      R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}])";
  EXPECT_EQ(fault(429, busy).kind, Kind::transient);
  EXPECT_EQ(fault(429, busy).wait_s, 34.5);
  const std::string daily =
      R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"","details":[{"violations":[)"
      R"({"quotaId":"GenerateRequestsPerDayPerProject"}]}]}})";
  EXPECT_EQ(fault(429, daily).kind, Kind::quota);
  const std::string key =
      R"({"error":{"code":400,"status":"INVALID_ARGUMENT","message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}})";
  EXPECT_EQ(fault(400, key).kind, Kind::authentication);
}

TEST(Fault, ReadsAnyBody) {
  EXPECT_EQ(fault(500, "<html>").kind, Kind::transient);
  EXPECT_EQ(fault(500, R"({"error":"the context size is exceeded"})").kind, Kind::context_full);
  EXPECT_EQ(fault(422, R"({"detail":"no"})").what, "HTTP 422: no");
  EXPECT_EQ(fault(418, "").kind, Kind::bad_request);
  EXPECT_EQ(
      fault(400, R"({"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400})")
          .kind,
      Kind::context_full);
  for (const char* body :
       {"null", "[]", "[1]", "{\"error\":[]}", "{\"error\":{\"details\":[1,\"x\"],\"code\":{}}}", "\xff"})
    EXPECT_EQ(fault(503, body).kind, Kind::transient) << body;
}

TEST(Fault, InAStreamIsSortedTheSame) {
  EXPECT_EQ(fault_of_event(R"({"type":"error","error":{"type":"overloaded_error","message":"m"}})").kind,
            Kind::transient);
  EXPECT_EQ(fault_of_event(R"({"type":"error","error":{"type":"invalid_request_error","message":"m"}})").kind,
            Kind::bad_request);
  EXPECT_EQ(fault_of_event(R"({"error":{"code":402,"message":"credits"}})").kind, Kind::quota);
  EXPECT_EQ(fault_of_event(R"({"error":{"code":502,"message":"m","metadata":{"raw":"upstream"}}})").what,
            "HTTP 502: m (upstream)");
  EXPECT_EQ(fault_of_event(R"({"type":"error","code":"server_error","message":"m"})").kind, Kind::transient);
  EXPECT_EQ(fault_of_event(R"({"error":{"type":"never_heard_of"}})").kind, Kind::transient);
}

TEST(Fault, ReadsTheWaitThatIsAskedFor) {
  const auto wait = [](const char* name, const std::string& value) { return asked_wait_s({{name, value}}); };
  EXPECT_EQ(wait("retry-after", "17"), 17.0);
  EXPECT_EQ(wait("retry-after-ms", "1500"), 1.5);
  EXPECT_EQ(asked_wait_s({{"retry-after", "17"}, {"retry-after-ms", "1500"}}), 1.5);
  for (const char* useless : {"0", "-3", "soon", "", "99999999999", "nan"})
    EXPECT_FALSE(wait("retry-after", useless)) << useless;
  char date[64];
  const std::time_t then = std::time(nullptr) + 30;
  std::tm parts{};
  std::strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&then, &parts));
  const auto asked = wait("retry-after", date);
  ASSERT_TRUE(asked);
  EXPECT_GT(*asked, 20);
  EXPECT_LE(*asked, 30);
}

TEST(Backoff, DoublesUpToItsLimitLessAQuarterAtMost) {
  CallLimits limits;
  Backoff backoff(limits, 3);
  for (int number = 1; number < 40; ++number) {
    const double full = std::min(0.5 * std::pow(2.0, number - 1), 60.0);
    const double wait = backoff.wait(number, std::nullopt).count();
    EXPECT_LE(wait, full);
    EXPECT_GE(wait, full * 0.75);
  }
  EXPECT_GE(backoff.wait(1, 12.0).count(), 12) << "never earlier than asked";
}

}  // namespace
}  // namespace onelaunch::llm
