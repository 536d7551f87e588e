#pragma once
// A chat with one of the fake providers, with limits short enough for a test.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/llm/chat.h"
#include "tests/fakes/fake_http_server.h"
#include "tests/fakes/fake_model.h"

namespace onelaunch::llm {

using fakes::Answer;
using fakes::Api;
using fakes::FakeCall;
using fakes::FakeHttpServer;
using fakes::FakeReply;
using fakes::HeardRequest;

constexpr const char* kKey = "sk-test-0123456789abcdef";
constexpr Api kApis[] = {Api::anthropic, Api::responses, Api::completions, Api::gemini};

inline std::string provider_of(Api api) {
  switch (api) {
    case Api::anthropic:
      return "anthropic";
    case Api::responses:
      return "openai";
    case Api::completions:
      return "compat";
    case Api::gemini:
      return "gemini";
  }
  return "";
}

// A name for a parameterised test.
inline std::string test_name(const testing::TestParamInfo<Api>& info) { return provider_of(info.param); }

// A model that the price table knows, where there is one.
inline std::string model_of(Api api) {
  switch (api) {
    case Api::anthropic:
      return "claude-opus-5-5";
    case Api::responses:
      return "gpt-6.2-sol";
    case Api::completions:
      return "local-model";
    case Api::gemini:
      return "gemini-4-neon";
  }
  return "";
}

inline ChatOptions quick_options() {
  ChatOptions options;
  options.system = "You write kernels. Größe, 核, 🚀.";
  options.tools = {
      {"compile", "Compiles the candidate.", R"({"type":"object", "properties":{"source":{"type":"string"}}})"},
      {"evaluate", "Checks and times it.", R"({"type":"object","properties":{}})"}};
  options.limits.backoff_first = options.limits.backoff_max = Seconds(0.002);
  options.limits.linger = Seconds(0.05);
  options.jitter_seed = 7;
  return options;
}

inline std::unique_ptr<Chat> open(Api api, const std::string& url, const Clock& clock,
                                  ChatOptions options = quick_options()) {
  const ModelName name{provider_of(api), model_of(api), url};
  Credentials credentials{kKey, false, url};
  auto chat = open_chat(name, credentials, std::move(options), clock);
  EXPECT_TRUE(chat) << (chat ? "" : chat.error().message);
  return std::move(*chat);
}

inline Deadline soon(const Clock& clock) { return Deadline::after(clock, Seconds(20)); }

// Sends and expects a reply.
inline Reply reply_to(Chat& chat, const Clock& clock) {
  auto reply = chat.send(soon(clock), nullptr);
  EXPECT_TRUE(reply) << (reply ? "" : std::string(name_of(reply.error().kind)) + ": " + reply.error().what);
  return reply ? *reply : Reply{};
}

// Sends and expects none.
inline CallFailure failure_of(Chat& chat, const Clock& clock) {
  auto reply = chat.send(soon(clock), nullptr);
  EXPECT_FALSE(reply) << "a reply: " << (reply ? reply->text : "");
  return reply ? CallFailure{} : reply.error();
}

// A script that answers the Nth request with the Nth of these, and the last one from then on.
inline FakeHttpServer::Script replies(Api api, std::vector<FakeReply> all) {
  return [api, all](const HeardRequest& request) {
    const auto number = std::min(static_cast<std::size_t>(request.number), all.size() - 1);
    return answer_with(api, all[number], request);
  };
}

}  // namespace onelaunch::llm
