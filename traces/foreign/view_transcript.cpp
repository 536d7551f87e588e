#include "traces/foreign/transcript.h"
#include "traces/text.h"

namespace onelaunch::traces {

const char* word_of(TranscriptStep::Kind kind) {
  switch (kind) {
    case TranscriptStep::Kind::user: return "user";
    case TranscriptStep::Kind::assistant: return "model";
    case TranscriptStep::Kind::reasoning: return "thinking";
    case TranscriptStep::Kind::tool_call: return "call";
    case TranscriptStep::Kind::tool_result: return "result";
    case TranscriptStep::Kind::notice: return "notice";
    case TranscriptStep::Kind::error: return "error";
  }
  return "";
}

namespace {

using Kind = TranscriptStep::Kind;

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one_line(one);
  return text;
}

std::string spent(const Transcript& t) {
  std::string text = t.use.output ? std::to_string(t.use.prompt()) + " tokens in (" + std::to_string(t.use.cache_read.value_or(0)) +
                                        " from the cache), " + std::to_string(*t.use.output) + " out"
                                  : "tokens not told";
  if (t.use.reasoning.value_or(0) > 0) text += " (" + std::to_string(*t.use.reasoning) + " of them reasoning)";
  text += t.cost_usd ? ", $" + fixed(*t.cost_usd, 4) : ", cost not told";
  if (t.duration_s) text += ", " + fixed(*t.duration_s, 1) + " s";
  return text;
}

void print_head(const Transcript& t, std::ostream& out) {
  out << one_line(t.format) << " | " << one_line(t.agent) << (t.version.empty() ? "" : " " + one_line(t.version)) << " | "
      << (t.model.empty() ? "model not told" : one_line(t.model)) << "\n";
  if (!t.session.empty() || !t.started.empty())
    out << "session " << one_line(t.session) << (t.started.empty() ? "" : ", started " + t.started) << "\n";
  out << spent(t) << "; answers of the model: " << t.turns.size() << ", tool calls: " << t.tool_calls() << "\n";
  if (!t.lacks.empty()) out << "not in this transcript: " << joined(t.lacks) << "\n";
  out << "another program's transcript: nothing in it was checked here\n\n";
}

}  // namespace

void print_transcript(const Transcript& t, const TranscriptViewOptions& options, std::ostream& out) {
  const auto paint = [&](const char* code) { return options.color ? code : ""; };
  print_head(t, out);
  for (const TranscriptStep& step : t.steps) {
    const bool bad = step.kind == Kind::error || step.failed;
    out << pad_left(step.t ? fixed(*step.t, 1) + " s" : "", 10) << "  " << paint(bad ? "\033[33m" : "")
        << pad_right(std::string(word_of(step.kind)) + (step.failed ? " !" : ""), 10);
    if (!step.name.empty()) out << one_line(step.name, 40) << "  ";
    if (step.seconds) out << "(" << fixed(*step.seconds, 1) << " s) ";
    out << one_line(step.text, options.width) << paint(bad ? "\033[0m" : "") << "\n";
  }
  if (!t.figures.empty()) out << "\nfigures that it states:\n";
  for (const std::string& figure : t.figures) out << "  " << one_line(figure, options.width) << "\n";
  if (!t.ending.empty()) out << "\nended: " << one_line(t.ending) << "\n";
}

}  // namespace onelaunch::traces
