#pragma once
// A language model that says what the test wrote down for each turn, and keeps what it was told. Like a real one it
// depends on nothing but its conversation: one that was restored goes on where the other stopped.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/llm/chat.h"
#include "base/sha256.h"
#include "tests/fakes/fake_clock.h"

namespace onelaunch::fakes {

// What was said and answered, one line an entry.
struct ChatLog {
  std::vector<std::string> said;            // by the harness, over all conversations
  int opened = 0, restored = 0, sends = 0;
  std::vector<std::uint64_t> output_limits; // of each chat that was opened
};

// The answer to the n-th message (from 1) of a conversation, the last of which is `text`.
struct ScriptedTurn {
  int conversation = 1, number = 1;  // conversation: 2 for every one that was begun anew
  std::string text;
};
using ChatScript = std::function<llm::SendResult(const ScriptedTurn&)>;

class ScriptedChat final : public llm::Chat {
 public:
  // Borrows log and clock; each reply takes `seconds` of the clock.
  ScriptedChat(ChatScript script, ChatLog& log, FakeClock& clock, double seconds = 1)
      : script_(std::move(script)), log_(log), clock_(clock), seconds_(seconds) {
    ++log_.opened;
  }

  void say(const std::string& text) override { append("user", text); }
  void answer(const std::vector<llm::ToolOutput>& outputs, const std::string& after) override {
    std::string text;
    for (const llm::ToolOutput& output : outputs) text += output.call_id + (output.error ? " failed: " : ": ") + output.text + "\n";
    append("user", text + after);
  }
  std::string next_request() const override { return history_; }

  llm::SendResult send(Deadline deadline, const std::function<void(const llm::Retry&)>& on_retry) override {
    ++log_.sends;
    if (before_send) before_send(on_retry);
    if (stopped_) return failure(llm::CallFailure::Kind::stopped, "stopped");
    const double left = deadline.left(clock_).count();
    clock_.advance(std::min(seconds_, std::max(0.0, left)));
    if (left < seconds_) return failure(llm::CallFailure::Kind::deadline, "the deadline passed");
    llm::SendResult result = script_({.conversation = conversation(), .number = messages(), .text = last_});
    if (!result) return result;
    result->seconds = seconds_;
    for (std::size_t i = 0; i < result->calls.size(); ++i)
      result->calls[i].id = "call_" + std::to_string(messages()) + "_" + std::to_string(i + 1);
    if (result->ending != llm::Ending::refused) append("model", result->raw.empty() ? result->text : result->raw);
    return result;
  }
  void stop() override { stopped_ = true; }
  std::string save() const override { return history_; }
  Result<void> restore(const std::string& saved) override {
    if (refuses_history || saved.find('\n') == std::string::npos) return invalid("this is no history of a scripted chat");
    history_ = saved;
    ++log_.restored;
    return {};
  }

  std::function<void(const std::function<void(const llm::Retry&)>&)> before_send;
  bool refuses_history = false;             // as a chat with another model does

 private:
  static llm::SendResult failure(llm::CallFailure::Kind kind, const std::string& what) {
    return tl::unexpected(llm::CallFailure{.kind = kind, .what = what, .status = 0});
  }
  // One line a message: who, length, hash of the text; enough to tell histories apart.
  void append(const std::string& who, const std::string& text) {
    if (who == "user") {
      log_.said.push_back(text);
      last_ = text;
      if (text.find("is begun anew") != std::string::npos) history_ += "anew\n";
    }
    history_ += who + " " + std::to_string(text.size()) + " " + sha256_hex(text).substr(0, 12) + "\n";
  }
  int messages() const { return count("user "); }
  int conversation() const { return 1 + count("anew\n"); }
  int count(const std::string& part) const {
    int found = 0;
    for (std::size_t at = history_.find(part); at != std::string::npos; at = history_.find(part, at + 1)) ++found;
    return found;
  }

  ChatScript script_;
  ChatLog& log_;
  FakeClock& clock_;
  double seconds_;
  std::string history_, last_;
  bool stopped_ = false;
};

inline llm::Usage some_usage(std::uint64_t input, std::uint64_t output) {
  llm::Usage usage;
  usage.input = input;
  usage.output = output;
  usage.known = true;
  return usage;
}

// A reply that calls tools: {"name", "{arguments}"}, ...
inline llm::Reply calls(const std::vector<std::pair<std::string, std::string>>& list, const std::string& text = "") {
  llm::Reply reply;
  reply.ending = llm::Ending::tool_calls;
  reply.text = text;
  for (const auto& [name, arguments] : list) {
    reply.calls.push_back({.id = "", .name = name, .arguments = arguments});
    reply.raw += name + arguments;
  }
  reply.usage = some_usage(1000, 100);
  reply.cost_usd = 0.01;
  reply.model = "scripted-1";
  return reply;
}

inline llm::Reply ends(llm::Ending ending, const std::string& text = "", const std::string& detail = "") {
  llm::Reply reply;
  reply.ending = ending;
  reply.text = text;
  reply.detail = detail;
  reply.usage = some_usage(1000, 100);
  reply.cost_usd = 0.01;
  return reply;
}

inline llm::SendResult fails(llm::CallFailure::Kind kind, const std::string& what) {
  return tl::unexpected(llm::CallFailure{.kind = kind, .what = what, .status = 500});
}

}  // namespace onelaunch::fakes
