#pragma once
// Model providers as a strict server sees them: what they answer, and what they refuse. Every request is checked for
// what the real ones reject: unpaired calls, altered or moved thinking, empty text, wrong headers.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fakes/fake_http_server.h"

namespace onelaunch::fakes {

enum class Api { anthropic, responses, completions, gemini };

struct FakeCall {
  std::string id, name, arguments = "{}";
};

struct FakeReply {
  std::string thinking, text;
  std::vector<FakeCall> calls;
  std::string ending;  // the provider's own word; empty: what fits
  std::string detail;  // of a refusal
  std::string model = "fake-model-1";
  std::uint64_t input = 100, cache_read = 0, cache_write_5m = 0, cache_write_1h = 0;
  std::uint64_t output = 20, reasoning = 0;  // output with reasoning
  bool tells_usage = true;
};

// Why a real server would refuse this request; empty when it would not.
std::string objection(Api api, const HeardRequest& request);

// The events of a reply. Thinking is signed: the signature covers all that stands before it in the conversation.
std::string stream_of(Api api, const FakeReply& reply, const HeardRequest& request);

// The reply, or a 400 that says the objection.
Answer answer_with(Api api, const FakeReply& reply, const HeardRequest& request);
// In the provider's own form.
Answer error_answer(Api api, int status, const std::string& type, const std::string& message);
// An event that reports an error in the middle of a stream.
std::string error_event(Api api, const std::string& type, const std::string& message);

}  // namespace onelaunch::fakes
