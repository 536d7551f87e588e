#include <string_view>

#include "traces/event_line.h"
#include "traces/foreign/export.h"
#include "traces/foreign/readers.h"
#include "traces/reader.h"

namespace onelaunch::traces {
namespace {

using Kind = TranscriptStep::Kind;
using foreign::Json;

std::string blob_or_nothing(const std::filesystem::path& run, const std::string& sha256) {
  if (sha256.empty()) return "";
  Result<std::string> text = read_blob(run, sha256);
  return text ? std::move(*text) : "";
}

// Of the JSON object that a turn's blob is; a blob that is none is the text itself.
std::string part_of(const std::string& blob, const char* name) {
  const Json json = Json::parse(blob, nullptr, false);
  if (!json.is_object()) return std::string_view(name) == "text" ? blob : "";
  const auto part = json.find(name);
  return part != json.end() && part->is_string() ? part->get<std::string>() : "";
}

class TraceTeller {
 public:
  TraceTeller(std::filesystem::path run, foreign::TranscriptBuilder& builder) : run_(std::move(run)), builder_(builder) {}

  void take(const Record& record) {
    const std::optional<double> utc = foreign::seconds_of(record.ts);
    if (!utc_) utc_ = utc;
    when_ = utc_ ? std::optional<double>(*utc_ + record.t) : std::nullopt;  // active time, from the start on
    std::visit([this, &record](const auto& event) { tell(event, record.event); }, record.event);
  }

 private:
  void tell(const SessionStart& e, const Event& event) {
    builder_.made().agent = e.agent;
    builder_.made().version = "onelaunch " + e.harness_version;
    builder_.add(Kind::user, event_line(event), when_);
  }
  void tell(const ModelResponse& e, const Event&) {
    const std::string turn = std::to_string(e.turn);
    const std::string blob = blob_or_nothing(run_, e.response_sha256);
    if (const std::string reasoning = part_of(blob, "reasoning"); !reasoning.empty())
      builder_.add(Kind::reasoning, reasoning, when_).turn = turn;
    builder_.add(Kind::assistant, part_of(blob, "text"), when_).turn = turn;
    builder_.turn({.id = turn, .model = e.model,
                   .use = {.input = e.input_tokens, .cache_read = e.cache_read_tokens, .cache_write = e.cache_write_tokens, .output = e.output_tokens, .reasoning = e.reasoning_tokens},
                   .cost_usd = e.cost_usd});
  }
  // What the harness said; results of tools are told as such.
  void tell(const ModelRequest& e, const Event&) {
    const std::string said = part_of(blob_or_nothing(run_, e.request_sha256), "text");
    if (!said.empty()) builder_.add(Kind::user, said, when_);
  }
  void tell(const ToolCall& e, const Event&) { builder_.call(e.id, e.name, blob_or_nothing(run_, e.arguments_sha256), when_); }
  void tell(const ToolResult& e, const Event&) {
    builder_.result(e.id, blob_or_nothing(run_, e.result_sha256), e.error, when_);
    builder_.made().steps.back().seconds = e.seconds;
  }
  void tell(const Candidate& e, const Event&) {
    Json arguments = {{"source_sha256", e.source_sha256}, {"tunables", e.tunables}, {"note", e.note}, {"parent", e.parent}};
    builder_.call(e.id, "candidate", foreign::dumped(arguments), when_);
  }
  void tell(const Decision& e, const Event& event) {
    builder_.result(e.candidate, event_line(event), e.outcome != "passed", when_);
  }
  void tell(const InfraError&, const Event& event) { builder_.add(Kind::error, event_line(event), when_); }
  void tell(const SessionEnd& e, const Event& event) {
    builder_.made().ending = e.reason;
    builder_.add(Kind::notice, event_line(event), when_);
  }
  template <class E>
  void tell(const E&, const Event& event) {
    if constexpr (std::is_same_v<E, Note> || std::is_same_v<E, Regrade> || std::is_same_v<E, Baseline> || std::is_same_v<E, Checkpoint>)
      builder_.add(Kind::notice, event_line(event), when_);
  }

  std::filesystem::path run_;
  foreign::TranscriptBuilder& builder_;
  std::optional<double> utc_, when_;
};

}  // namespace

Result<Transcript> transcript_of_trace(const std::filesystem::path& run) {
  const std::filesystem::path file = trace_file(run);
  foreign::TranscriptBuilder builder("onelaunch.trace/1");
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  TraceTeller teller(folder, builder);
  const Result<ReadSummary> summary = read_trace(run, [&](const Record& record) {
    teller.take(record);
    return true;
  });
  if (!summary) return because(summary.error());
  if (summary->events == 0) return invalid(file.string() + " holds no events yet");
  builder.made().session = std::filesystem::absolute(folder).lexically_normal().filename().string();
  return builder.take();
}

}  // namespace onelaunch::traces
