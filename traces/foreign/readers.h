#pragma once
// One reader for each family of transcripts. Each takes the records of a file and gives what it understood.

#include <map>
#include <string>
#include <vector>

#include "traces/foreign/json_access.h"

namespace onelaunch::traces::foreign {

using Records = std::vector<Json>;

// Collects steps, with times relative to the first.
class TranscriptBuilder {
 public:
  explicit TranscriptBuilder(std::string format) { made_.format = std::move(format); }

  TranscriptStep& add(TranscriptStep::Kind kind, std::string text, std::optional<double> when);
  void call(const std::string& id, const std::string& name, std::string arguments, std::optional<double> when);
  void result(const std::string& id, std::string output, bool failed, std::optional<double> when);
  // Once for each id; later ones of the same id replace it.
  void turn(const TranscriptTurn& turn);
  // Adds up the turns where the transcript gave no total, notes what is missing.
  Transcript take();

  Transcript& made() { return made_; }
  bool knows_call(const std::string& id) const { return calls_.contains(id); }

 private:
  std::optional<double> since_start(std::optional<double> when);

  struct Call { std::string name; std::optional<double> when; };
  Transcript made_;
  std::optional<double> first_;
  std::map<std::string, Call> calls_;
  std::map<std::string, std::size_t> turn_of_;
};

Transcript claude_stream(const Records& records);
Transcript claude_session(const Records& records);
Transcript codex_exec(const Records& records);
Transcript codex_rollout(const Records& records);
Transcript opencode(const Records& records);
Transcript gemini(const Records& records);
Transcript swe_agent(const Json& file);
Transcript mini_swe_agent(const Json& file);

}  // namespace onelaunch::traces::foreign
