#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "traces/foreign/readers.h"
#include "traces/line_source.h"

namespace onelaunch::traces {
namespace {

namespace fs = std::filesystem;
using namespace foreign;

constexpr std::uintmax_t kFileBytesMax = std::uintmax_t{512} << 20;
constexpr std::size_t kRecordsLookedAt = 40, kBytesLookedAt = std::size_t{1} << 16;

using Reader = Transcript (*)(const Records&);

Reader reader_for(const Json& record) {
  const std::string type = text(record, "type");
  if (type == "system" && is(record, "subtype", "init") && record.contains("tools")) return claude_stream;
  if (record.contains("sessionId") && (record.contains("uuid") || type == "queue-operation" || type == "summary" ||
                                       type.ends_with("-title") || type == "mode"))
    return claude_session;
  if (type == "thread.started") return codex_exec;
  if (type == "session_meta" && record.contains("payload")) return codex_rollout;
  if (record.contains("sessionID") && record.contains("part")) return opencode;
  if (type == "init" && record.contains("session_id") && record.contains("model")) return gemini;
  return nullptr;
}

Reader reader_for(const Records& records) {
  for (std::size_t i = 0; i < std::min(records.size(), kRecordsLookedAt); ++i)
    if (const Reader reader = reader_for(records[i])) return reader;
  return nullptr;
}

// Lines that are no JSON objects are passed over: containers print banners, and the last line may be cut.
Result<Records> records_of(const fs::path& file) {
  Result<LineSource> source = LineSource::open(file);
  if (!source) return because(source.error());
  Records records;
  for (;;) {
    const Result<LineSource::Got> got = source->next();
    if (!got) return because(got.error(), file.string());
    if (*got == LineSource::Got::end) return records;
    Json record = Json::parse(source->text(), nullptr, false);
    if (record.is_object()) records.push_back(std::move(record));
    if (*got == LineSource::Got::torn) return records;
  }
}

std::string content(const fs::path& file, std::size_t most) {
  std::ifstream in(file, std::ios::binary);
  std::string text(most, '\0');
  in.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

// Some published transcripts were written anew, with a second for each line: such times tell the order only.
void doubt_times(Transcript& transcript, const Records& records) {
  std::vector<double> times;
  for (const Json& record : records)
    if (const auto when = seconds_of(text(record, "timestamp"))) times.push_back(*when);
  if (times.size() < 6) return;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (std::abs(times[i] - times[i - 1] - 1) > 1e-6) return;
  transcript.lacks.push_back("real times (each line is one second after the other)");
  transcript.duration_s.reset();
  for (TranscriptStep& step : transcript.steps) step.seconds.reset();
}

Result<Transcript> transcript_of_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (error) return invalid("cannot read " + file.string() + ": " + error.message());
  if (bytes > kFileBytesMax) return invalid(file.string() + " is larger than 512 MiB");
  const std::string start = content(file, kBytesLookedAt);
  const bool whole = start.find("\"trajectory\"") != std::string::npos || start.find("\"messages\"") != std::string::npos;
  if (whole || file.extension() == ".traj" || file.extension() == ".json") {
    const Json json = Json::parse(content(file, static_cast<std::size_t>(bytes)), nullptr, false);
    if (text(json, "trajectory_format").starts_with("mini-swe-agent") || (at(json, "info").is_object() && at(json, "messages").is_array()))
      return mini_swe_agent(json);
    if (at(json, "trajectory").is_array() && at(json, "info").is_object()) return swe_agent(json);
  }
  const Result<Records> records = records_of(file);
  if (!records) return because(records.error());
  const Reader reader = reader_for(*records);
  if (!reader) return invalid(file.string() + " is neither a trace of onelaunch nor a transcript that it knows");
  Transcript transcript = reader(*records);
  doubt_times(transcript, *records);
  return transcript;
}

void add_figures(Transcript& transcript, const fs::path& log) {
  std::istringstream lines(content(log, std::size_t{1} << 20));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);)
    if (line.size() < 200 && line.find_first_of("0123456789") != std::string::npos &&
        (line.find("peak_fraction") != std::string::npos || line.find("speedup") != std::string::npos ||
         line.find("geomean") != std::string::npos || line.find(" us") != std::string::npos))
      found.push_back(log.filename().string() + ": " + line);
  const std::size_t first = found.size() > 12 ? found.size() - 12 : 0;
  transcript.figures.insert(transcript.figures.end(), found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
}

// Its own words win over the transcript's: they also cover what the harness saw from outside.
void take_result(Transcript& transcript, const Json& result) {
  transcript.agent = text(result, "harness");
  if (const std::string model = text(result, "model"); !model.empty()) transcript.model = model;
  if (transcript.session.empty()) transcript.session = text(result, "run_id");
  if (const auto seconds = number(result, "elapsed_seconds")) transcript.duration_s = *seconds;
  const std::string why = text(result, "failure_reason");
  transcript.ending = flag(result, "correct") ? "correct" : "not correct";
  if (!why.empty() && why != "pass") transcript.ending += ", " + why;
  if (!text(result, "reasoning_effort").empty()) transcript.version += (transcript.version.empty() ? "effort " : ", effort ") + text(result, "reasoning_effort");
  if (const auto fraction = number(result, "peak_fraction"))
    transcript.figures.push_back("result.json: peak_fraction " + dumped(*fraction));
  if (flag(result, "template_mutated")) transcript.figures.push_back("result.json: the task's own files were changed");
  const Json& usage = at(result, "usage");
  if (!transcript.use.output) {
    transcript.use.output = count(usage, "output_tokens");
    transcript.use.input = count(usage, "input_tokens");
    if (transcript.use.output) std::erase(transcript.lacks, "tokens");
  }
  if (!transcript.cost_usd) transcript.cost_usd = number(usage, "total_cost_usd");
  if (transcript.cost_usd) std::erase(transcript.lacks, "cost");
  std::erase(transcript.lacks, "how it ended");
  std::erase(transcript.lacks, "model");
}

Result<Transcript> transcript_of_run(const fs::path& folder) {
  const Json result = Json::parse(content(folder / "result.json", std::size_t{1} << 20), nullptr, false);
  if (!result.is_object()) return invalid((folder / "result.json").string() + " is no JSON");
  std::error_code error;
  Result<Transcript> transcript = invalid("none");
  for (const char* name : {"codex_session.jsonl", "transcript.jsonl"})  // the former has times
    if (!transcript && fs::exists(folder / name, error)) transcript = transcript_of_file(folder / name);
  Transcript made = transcript ? std::move(*transcript) : Transcript{};
  if (!transcript) made.lacks = {"a transcript that this program knows"};
  made.format = "KernelBench-Mega run" + (made.format.empty() ? "" : ", " + made.format);
  take_result(made, result);
  add_figures(made, folder / "benchmark.log");
  add_figures(made, folder / "check.log");
  return made;
}

}  // namespace

Result<Transcript> read_transcript(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return invalid(path.string() + ": no such file or folder");
  if (!fs::is_directory(path, error)) return transcript_of_file(path);
  if (fs::exists(path / "result.json", error)) return transcript_of_run(path);
  if (fs::exists(path / "transcript.jsonl", error)) return transcript_of_file(path / "transcript.jsonl");
  return invalid(path.string() + " holds neither events.jsonl nor a transcript that this program knows");
}

bool looks_foreign(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return !fs::exists(path / "events.jsonl", error) && fs::exists(path / "result.json", error) &&
           fs::exists(path / "transcript.jsonl", error);
  const std::string name = path.filename().string();
  if (name == "events.jsonl" || name.ends_with(".external.json")) return false;
  if (name.ends_with(".traj") || name.ends_with(".traj.json")) return true;
  if (path.extension() != ".jsonl") return false;
  std::istringstream lines(content(path, kBytesLookedAt));
  std::string line;
  for (std::size_t i = 0; i < kRecordsLookedAt && std::getline(lines, line); ++i)
    if (const Json record = Json::parse(line, nullptr, false); record.is_object() && reader_for(record)) return true;
  return false;
}

}  // namespace onelaunch::traces
