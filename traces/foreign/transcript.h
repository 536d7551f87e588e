#pragma once
// What another program recorded of its session, brought to one shape. Nothing in it was checked here.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"

namespace onelaunch::traces {

struct TokenUse {
  std::optional<std::uint64_t> input;        // not cached
  std::optional<std::uint64_t> cache_read, cache_write, output;
  std::optional<std::uint64_t> reasoning;    // a part of output
  std::uint64_t prompt() const { return input.value_or(0) + cache_read.value_or(0) + cache_write.value_or(0); }
};

struct TranscriptStep {
  enum class Kind { user, assistant, reasoning, tool_call, tool_result, notice, error };
  Kind kind = Kind::notice;
  std::optional<double> t;         // seconds since the first time in the transcript
  std::string text;                // a call's arguments, a result's output
  std::string id, name;            // of the tool call
  std::string turn;                // of the model's answer that it is a part of; empty when not told
  bool failed = false;             // result
  std::optional<double> seconds;   // result: how long the call took, when told
};

// "model", "call": as pages and the terminal name a step.
const char* word_of(TranscriptStep::Kind kind);

// What the model used for one answer.
struct TranscriptTurn {
  std::string id, model;
  TokenUse use;
  std::optional<double> cost_usd;
};

struct Transcript {
  std::string format;              // "Claude Code stream-json"
  std::string agent, version, model, session;
  std::string started;             // ISO 8601, UTC; empty when no time was told
  std::vector<TranscriptStep> steps;
  std::vector<TranscriptTurn> turns;
  TokenUse use;                    // of the whole session, as told or added up
  std::optional<double> cost_usd, duration_s;
  std::string ending;              // "success", "timeout", ...; empty when not told
  std::vector<std::string> lacks;  // what the format or this file does not tell: "times", "cost"
  std::vector<std::string> figures;  // lines that state speeds
  int tool_calls() const;
};

// Recognised by content: Claude Code (stream-json, session files), Codex (exec --json, rollout files), OpenCode, Gemini
// CLI (stream-json), SWE-agent, mini-swe-agent, and run folders of the KernelBench-Mega kind. Fails (invalid_input) when
// it is none of them.
Result<Transcript> read_transcript(const std::filesystem::path& path);

// A cheap look at the beginning: is it worth a read_transcript()?
bool looks_foreign(const std::filesystem::path& path);

struct TranscriptViewOptions {
  bool color = false;
  std::size_t width = 160;
};
void print_transcript(const Transcript& transcript, const TranscriptViewOptions& options, std::ostream& out);

}  // namespace onelaunch::traces
