#pragma once
// Transcripts in formats that other tools read.

#include <filesystem>
#include <string>

#include "base/result.h"
#include "traces/foreign/transcript.h"

namespace onelaunch::traces {

// A session of ours in the same shape: candidates as tool calls, decisions as their results, beside what the model and
// its tools said. `run` is a run directory or an events.jsonl.
Result<Transcript> transcript_of_trace(const std::filesystem::path& run);

// ATIF-v1.4, one trajectory, pretty-printed.
std::string print_atif(const Transcript& transcript);
// OpenTelemetry spans in OTLP/JSON with the attributes of the GenAI conventions: invoke_agent, chat, execute_tool.
std::string print_otel(const Transcript& transcript);

}  // namespace onelaunch::traces
