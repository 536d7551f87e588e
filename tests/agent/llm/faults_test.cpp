// What goes wrong with every provider, and what becomes of it.
#include <gtest/gtest.h>

#include <thread>

#include "tests/agent/llm/chat_fixture.h"
#include "tests/fakes/fake_clock.h"

namespace onelaunch::llm {
namespace {

using Kind = CallFailure::Kind;
using std::chrono::milliseconds;

class FaultyProvider : public testing::TestWithParam<Api> {
 protected:
  FakeReply good() const {
    return {.thinking = "Größe 核 🚀", .text = "Fine – 核.", .calls = {{"c1", "compile", R"({"a":"é"})"}}};
  }

  // Breaks the first `faults` requests, answers the others.
  FakeHttpServer::Script broken_first(int faults, std::function<Answer(const HeardRequest&)> how) const {
    return [this, faults, how](const HeardRequest& request) {
      return request.number < faults ? how(request) : answer_with(GetParam(), good(), request);
    };
  }
  // Sends to a server that is broken once; expects a good reply after one retry, and says why it was needed.
  std::string healed_after(std::function<Answer(const HeardRequest&)> how) {
    FakeHttpServer server(broken_first(1, std::move(how)));
    const auto chat = open(GetParam(), server.url(), fake_clock_);
    chat->say("Go.");
    std::vector<Retry> retries;
    const auto reply = chat->send(Deadline::after(fake_clock_, Seconds(1e6)), [&](const Retry& retry) {
      retries.push_back(retry);
      fake_clock_.advance(retry.wait_s);
    });
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().what);
    EXPECT_EQ(retries.size(), 1u);
    const auto heard = server.heard();
    EXPECT_EQ(heard.size(), 2u);
    if (!reply || retries.size() != 1 || heard.size() != 2) return "";
    EXPECT_EQ(reply->text, "Fine – 核.");
    EXPECT_EQ(reply->calls.size(), 1u);
    EXPECT_EQ(retries[0].number, 1);
    EXPECT_GT(retries[0].wait_s, 0);
    EXPECT_EQ(heard[0].body, heard[1].body) << "a retry sends the same";
    return retries[0].why;
  }
  std::function<void()> minutes_pass() {
    return [this] { fake_clock_.advance(120); };
  }
  Answer good_answer(const HeardRequest& request) const { return answer_with(GetParam(), good(), request); }
  CallFailure failure_with(Answer answer, ChatOptions options = quick_options()) {
    FakeHttpServer server([&](const HeardRequest&) { return answer; });
    const auto chat = open(GetParam(), server.url(), clock_, std::move(options));
    chat->say("Go.");
    const std::string before = chat->save();
    const CallFailure failure = failure_of(*chat, clock_);
    EXPECT_EQ(chat->save(), before) << "a call without a reply leaves nothing behind";
    requests_ = server.heard().size();
    return failure;
  }
  CallFailure failure_with(int status, const std::string& type, const std::string& message) {
    return failure_with(error_answer(GetParam(), status, type, message));
  }

  SystemClock clock_;
  fakes::FakeClock fake_clock_;
  std::size_t requests_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Providers, FaultyProvider, testing::ValuesIn(kApis), test_name);

TEST_P(FaultyProvider, IsTriedAgainWhenBusyOrBroken) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    const std::string why =
        healed_after([&](const HeardRequest&) { return error_answer(GetParam(), status, "some_error", "later"); });
    EXPECT_NE(why.find(std::to_string(status)), std::string::npos) << why;
    EXPECT_NE(why.find("later"), std::string::npos) << why;
  }
}

TEST_P(FaultyProvider, IsTriedAgainWhenTheStreamIsCutAnywhere) {
  const auto whole = [&](const HeardRequest& request) { return good_answer(request).body; };
  FakeHttpServer probe([&](const HeardRequest& request) { return good_answer(request); });
  const auto chat = open(GetParam(), probe.url(), clock_);
  chat->say("Go.");
  reply_to(*chat, clock_);
  const std::size_t size = whole(probe.last()).size();
  // The very end of a stream may be lost without harm: what counts has arrived.
  for (std::size_t at = 0; at + 400 < size; at += size / 9 + 1) {
    healed_after([&](const HeardRequest& request) {
      Answer answer = good_answer(request);
      answer.cut_after = at;
      answer.reset = at % 2 == 1;
      return answer;
    });
  }
}

TEST_P(FaultyProvider, IsTriedAgainWhenAStreamEndsTidilyButTooEarly) {
  const std::string why = healed_after([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.body.resize(answer.body.size() / 3);
    return answer;
  });
  EXPECT_FALSE(why.empty());
}

TEST_P(FaultyProvider, IsTriedAgainAfterAnErrorInTheStream) {
  const std::string type = GetParam() == Api::gemini ? "UNAVAILABLE" : "overloaded_error";
  const std::string why = healed_after([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.body = answer.body.substr(0, answer.body.find("\n\n") + 2) + error_event(GetParam(), type, "come back");
    return answer;
  });
  EXPECT_NE(why.find("come back"), std::string::npos) << why;
}

TEST_P(FaultyProvider, IsTriedAgainWhenItHangsUpWithoutAWord) {
  healed_after([](const HeardRequest&) { return Answer{.no_answer = true}; });
  healed_after([](const HeardRequest&) { return Answer{.raw = "this is no HTTP\r\n\r\n"}; });
}

TEST_P(FaultyProvider, IsTriedAgainAfterAnEmptyOrSenselessAnswer) {
  healed_after([](const HeardRequest&) { return Answer{.body = ""}; });
  healed_after([](const HeardRequest&) { return Answer{.body = "data: {\"half\n\n"}; });
  healed_after([](const HeardRequest&) { return Answer{.body = "data: [1,2]\n\ndata: \"x\"\n\ndata: {}\n\n"}; });
  healed_after([](const HeardRequest&) {
    return Answer{.headers = {{"content-type", "text/html"}}, .body = "<html>Bad gateway</html>"};
  });
}

TEST_P(FaultyProvider, IsTriedAgainWhenItNeverAnswers) {
  const std::string why =
      healed_after([&](const HeardRequest&) { return Answer{.hang_first = true, .tick = minutes_pass()}; });
  EXPECT_NE(why.find("no byte within 600 s"), std::string::npos) << why;
}

TEST_P(FaultyProvider, IsTriedAgainWhenItFallsSilent) {
  const std::string why = healed_after([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.cut_after = answer.body.size() / 2;
    answer.hang_after = true;
    answer.tick = minutes_pass();
    return answer;
  });
  EXPECT_NE(why.find("silent for 600 s"), std::string::npos) << why;
}

TEST_P(FaultyProvider, MayBeSlowAsLongAsItIsAlive) {
  FakeHttpServer server([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.piece_bytes = answer.body.size() / 15;
    answer.between = milliseconds(10);
    answer.tick = minutes_pass();
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), fake_clock_);
  chat->say("Go.");
  const auto reply = chat->send(Deadline::after(fake_clock_, Seconds(1e6)), nullptr);
  ASSERT_TRUE(reply) << reply.error().what;
  EXPECT_EQ(reply->text, "Fine – 核.");
  EXPECT_GT(reply->seconds, 1200) << "longer than any of the limits";
  EXPECT_EQ(server.heard().size(), 1u);
}

TEST_P(FaultyProvider, MayTearItsCharactersApart) {
  FakeHttpServer server([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.piece_bytes = 1;
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  const Reply reply = reply_to(*chat, clock_);
  EXPECT_EQ(reply.text, "Fine – 核.");
  EXPECT_EQ(reply.reasoning, "Größe 核 🚀");
  ASSERT_EQ(reply.calls.size(), 1u);
  EXPECT_EQ(reply.calls[0].arguments, R"({"a":"é"})");
}

TEST_P(FaultyProvider, MayTearItsCharactersApartInUtf16) {
  FakeReply reply = good();
  reply.text = "A rocket: \xF4\x8F\x80\xBD.";  // marks a place; the server sends half a character there
  FakeHttpServer server([&](const HeardRequest& request) {
    Answer answer = answer_with(GetParam(), reply, request);
    for (std::size_t at; (at = answer.body.find("\xF4\x8F\x80\xBD")) != std::string::npos;)
      answer.body.replace(at, 4, "\\ud83d");
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "A rocket: \xEF\xBF\xBD.");
}

TEST_P(FaultyProvider, MayUseCarriageReturnsAndAByteOrderMark) {
  FakeHttpServer server([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    std::string body = "\xEF\xBB\xBF";
    for (const char c : answer.body) body += c == '\n' ? "\r\n" : std::string(1, c);
    answer.body = body;
    answer.piece_bytes = 7;
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Fine – 核.");
}

TEST_P(FaultyProvider, MayLeaveTheConnectionOpenAfterACompleteReply) {
  FakeHttpServer server([&](const HeardRequest& request) {
    Answer answer = good_answer(request);
    answer.hang_after = true;
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  EXPECT_EQ(reply_to(*chat, clock_).text, "Fine – 核.");
}

TEST_P(FaultyProvider, TakesAMegabyteEachWay) {
  FakeReply large = good();
  large.text = std::string(1 << 20, 'x') + "核";
  FakeHttpServer server(replies(GetParam(), {large}));
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say(std::string(1500000, 'y'));
  EXPECT_EQ(reply_to(*chat, clock_).text, large.text);
  EXPECT_GT(server.last().body.size(), 1500000u);
}

TEST_P(FaultyProvider, IsNotReadBeyondTheLimit) {
  ChatOptions options = quick_options();
  options.limits.event_bytes_max = 1000;
  FakeReply large = good();
  large.text = std::string(100000, 'x');
  FakeHttpServer server(replies(GetParam(), {large}));
  const auto chat = open(GetParam(), server.url(), clock_, options);
  chat->say("Go.");
  const CallFailure failure = failure_of(*chat, clock_);
  EXPECT_EQ(failure.kind, Kind::outage);
  EXPECT_NE(failure.what.find("larger than its limit"), std::string::npos) << failure.what;
  EXPECT_EQ(server.heard().size(), 4u) << "the same again is of little use";
}

TEST_P(FaultyProvider, StopsTheSessionWhenTheKeyIsWrong) {
  EXPECT_EQ(failure_with(401, "authentication_error", "invalid key").kind, Kind::authentication);
  EXPECT_EQ(failure_with(403, "permission_error", "not for you").kind, Kind::authentication);
  EXPECT_EQ(requests_, 1u) << "not tried again";
}

TEST_P(FaultyProvider, StopsTheSessionWhenTheMoneyIsGone) {
  EXPECT_EQ(failure_with(402, "billing_error", "pay").kind, Kind::quota);
  EXPECT_EQ(failure_with(429, "insufficient_quota", "You exceeded your current quota").kind, Kind::quota);
  EXPECT_EQ(failure_with(400, "invalid_request_error", "Your credit balance is too low to go on").kind, Kind::quota);
  EXPECT_EQ(requests_, 1u);
}

TEST_P(FaultyProvider, SaysWhenTheContextIsFull) {
  EXPECT_EQ(failure_with(413, "request_too_large", "too large").kind, Kind::context_full);
  EXPECT_EQ(failure_with(400, "context_length_exceeded", "too long").kind, Kind::context_full);
  EXPECT_EQ(failure_with(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum").kind,
            Kind::context_full);
  EXPECT_EQ(failure_with(400, "INVALID_ARGUMENT",
                         "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).")
                .kind,
            Kind::context_full);
  EXPECT_EQ(failure_with(400, "exceed_context_size_error", "the request exceeds the available context size").kind,
            Kind::context_full);
}

TEST_P(FaultyProvider, ReportsABadRequestInItsOwnWords) {
  const CallFailure failure = failure_with(400, "invalid_request_error", "messages.3: nonsense");
  EXPECT_EQ(failure.kind, Kind::bad_request);
  EXPECT_EQ(failure.status, 400);
  EXPECT_NE(failure.what.find("messages.3: nonsense"), std::string::npos) << failure.what;
  EXPECT_EQ(failure_with(404, "not_found_error", "model: no-such-model").kind, Kind::bad_request);
}

TEST_P(FaultyProvider, DoesNotFollowARedirectWithTheKey) {
  FakeHttpServer elsewhere([](const HeardRequest&) { return Answer{}; });
  const CallFailure failure = failure_with({.status = 307, .headers = {{"location", elsewhere.url() + "/v1"}}});
  EXPECT_EQ(failure.kind, Kind::bad_request);
  EXPECT_TRUE(elsewhere.heard().empty());
}

TEST_P(FaultyProvider, IsObeyedWhenItSaysNotToTryAgain) {
  Answer answer = error_answer(GetParam(), 500, "api_error", "broken for good");
  answer.headers.emplace_back("X-Should-Retry", "false");
  EXPECT_EQ(failure_with(answer).kind, Kind::outage);
  EXPECT_EQ(requests_, 1u);
}

TEST_P(FaultyProvider, IsAnOutageAfterTheLastRetry) {
  ChatOptions options = quick_options();
  options.limits.retries_max = 3;
  const CallFailure failure = failure_with(error_answer(GetParam(), 503, "overloaded", "busy"), options);
  EXPECT_EQ(failure.kind, Kind::outage);
  EXPECT_EQ(failure.status, 503);
  EXPECT_EQ(requests_, 4u);
}

TEST_P(FaultyProvider, IsWaitedForAsLongAsItAsks) {
  fakes::FakeClock clock;
  FakeHttpServer server(broken_first(3, [&](const HeardRequest& request) {
    Answer answer = error_answer(GetParam(), 429, "rate_limit_error", "slow down");
    if (request.number == 0) answer.headers.emplace_back("Retry-After", "17");
    if (request.number == 1) answer.headers.emplace_back("Retry-After-Ms", "2500");
    return answer;
  }));
  const auto chat = open(GetParam(), server.url(), clock);
  chat->say("Go.");
  std::vector<double> waits;
  const auto reply = chat->send(Deadline::after(clock, Seconds(100)), [&](const Retry& retry) {
    waits.push_back(retry.wait_s);
    clock.advance(retry.wait_s);
  });
  ASSERT_TRUE(reply) << reply.error().what;
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_GE(waits[0], 17);
  EXPECT_LE(waits[0], 18);
  EXPECT_GE(waits[1], 2.5);
  EXPECT_LE(waits[1], 2.7);
  EXPECT_LE(waits[2], 0.002);
}

TEST_P(FaultyProvider, IsNotWaitedForBeyondTheDeadline) {
  fakes::FakeClock clock;
  FakeHttpServer server([&](const HeardRequest&) {
    Answer answer = error_answer(GetParam(), 429, "rate_limit_error", "slow down");
    answer.headers.emplace_back("Retry-After", "3600");
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock);
  chat->say("Go.");
  const auto reply = chat->send(Deadline::after(clock, Seconds(100)), nullptr);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, Kind::outage);
  EXPECT_EQ(server.heard().size(), 1u);
}

TEST_P(FaultyProvider, IsLeftAtTheDeadline) {
  FakeHttpServer server([&](const HeardRequest&) { return Answer{.hang_first = true, .tick = minutes_pass()}; });
  const auto chat = open(GetParam(), server.url(), fake_clock_);
  chat->say("Go.");
  const Deadline deadline = Deadline::after(fake_clock_, Seconds(300));
  for (int call = 0; call < 2; ++call) {
    const auto reply = chat->send(deadline, nullptr);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, Kind::deadline);
  }
  EXPECT_EQ(server.heard().size(), 1u) << "after the deadline nobody is called";
}

TEST_P(FaultyProvider, IsLeftAtOnceWhenStopped) {
  FakeHttpServer server([](const HeardRequest&) { return Answer{.hang_first = true}; });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  std::thread stopper([&] {
    while (server.heard().empty()) std::this_thread::yield();
    chat->stop();
  });
  const CallFailure failure = failure_of(*chat, clock_);
  stopper.join();
  EXPECT_EQ(failure.kind, Kind::stopped);
  EXPECT_EQ(failure_of(*chat, clock_).kind, Kind::stopped) << "for good";
}

TEST_P(FaultyProvider, IsLeftAtOnceWhenStoppedDuringAWait) {
  FakeHttpServer server([&](const HeardRequest&) {
    Answer answer = error_answer(GetParam(), 503, "busy", "busy");
    answer.headers.emplace_back("Retry-After", "15");
    return answer;
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  const auto reply = chat->send(soon(clock_), [&](const Retry&) { chat->stop(); });
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, Kind::stopped);
}

TEST_P(FaultyProvider, IsAnOutageWhenNobodyIsThere) {
  int port = 0;
  {
    FakeHttpServer gone([](const HeardRequest&) { return Answer{}; });
    port = gone.port();
  }
  const auto chat = open(GetParam(), "http://127.0.0.1:" + std::to_string(port), clock_);
  chat->say("Go.");
  int retries = 0;
  const auto reply = chat->send(soon(clock_), [&](const Retry&) { ++retries; });
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, Kind::outage);
  EXPECT_EQ(retries, 8) << "an address where nobody ever answered is not waited for all night";
}

TEST_P(FaultyProvider, NeverGetsItsKeyIntoWhatIsToldOrKept) {
  FakeHttpServer server([&](const HeardRequest& request) {
    if (request.number == 0) return error_answer(GetParam(), 503, "busy", std::string("for key ") + kKey);
    if (request.number == 1)
      return Answer{.body = error_event(GetParam(), "overloaded_error", std::string("key ") + kKey + " is tired")};
    FakeReply reply = good();
    reply.text = std::string("Your key is ") + kKey;
    if (request.number == 2) {
      Answer answer = answer_with(GetParam(), reply, request);
      answer.headers.emplace_back("x-request-id", kKey);
      return answer;
    }
    return error_answer(GetParam(), 401, kKey, std::string("bad key ") + kKey);
  });
  const auto chat = open(GetParam(), server.url(), clock_);
  chat->say("Go.");
  std::string told;
  const auto reply = chat->send(soon(clock_), [&](const Retry& retry) { told += retry.why; });
  ASSERT_TRUE(reply) << reply.error().what;
  told += reply->request_id + reply->detail + reply->text + reply->raw;
  chat->say("More.");
  told += failure_of(*chat, clock_).what + chat->save() + chat->next_request();
  EXPECT_NE(told.find("[key]"), std::string::npos);
  EXPECT_EQ(told.find(kKey), std::string::npos) << told;
}

}  // namespace
}  // namespace onelaunch::llm
