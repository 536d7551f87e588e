#include "traces/view.h"

#include "traces/attempt_text.h"
#include "traces/event_json.h"
#include "traces/line_source.h"
#include "traces/reader.h"
#include "traces/source_diff.h"
#include "traces/text.h"
#include "traces/timeline_head.h"

namespace onelaunch::traces {
namespace {

constexpr std::size_t kNoteWidth = 160;

class Timeline {
 public:
  Timeline(std::filesystem::path run, const ViewOptions& options, std::ostream& out)
      : run_(std::move(run)), options_(options), out_(out) {}

  void take(const Record& record) {
    if (first_ts_.empty()) first_ts_ = record.ts;
    if (const auto* resume = std::get_if<Resume>(&record.event)) show_undecided(), show(*resume);
    state_.apply(record);
    if (const auto* decision = std::get_if<Decision>(&record.event)) show(*decision);
    if (const auto* note = std::get_if<Note>(&record.event))
      aside("note" + (note->author.empty() ? "" : " by " + one_line(note->author)) + ": " + one_line(note->text, kNoteWidth));
    if (const auto* wait = std::get_if<Wait>(&record.event))
      aside("waited " + fixed(wait->seconds, 1) + " s for " + one_line(wait->what));
    if (const auto* error = std::get_if<InfraError>(&record.event))
      aside("infrastructure error" + (error->candidate ? " at " + one_line(*error->candidate) : "") + ": " +
            one_line(error->what, kNoteWidth));
  }

  void finish(const ReadSummary& summary) {
    show_undecided();
    head();
    out_ << "\n" << session_close(state_, run_.string());
    if (summary.torn_last_line) out_ << "the last line is torn (the process died while writing it); it is left out\n";
    for (const std::string& unknown : summary.unknown) out_ << unknown << "\n";
  }

 private:
  const char* paint(const char* code) const { return options_.color ? code : ""; }

  bool wanted(const Decision& decision) const {
    if (options_.only == "reject") return decision.outcome != "passed";
    return options_.only.empty() || options_.only == decision.verdict;
  }

  void head() {
    if (head_shown_) return;
    head_shown_ = true;
    out_ << session_head(state_, first_ts_) << "\n";
    out_ << row("time", "id", "parent", "outcome", "us", "ratio", "decision") << "changes; reason\n" << before_head_;
  }

  static std::string row(const std::string& time, const std::string& id, const std::string& parent,
                         const std::string& outcome, const std::string& us, const std::string& ratio,
                         const std::string& decision) {
    return pad_left(time, 9) + "  " + pad_right(id, 6) + pad_right(parent, 8) + pad_right(outcome, 15) +
           pad_left(us, 10) + pad_left(ratio, 9) + "  " + pad_right(decision, 12);
  }

  void aside(const std::string& text) {
    if (!options_.only.empty()) return;
    const std::string line = pad_left(fixed(state_.active_s, 1) + " s", 9) + "  " + paint("\033[2m") + text +
                             paint("\033[0m") + "\n";
    if (head_shown_) out_ << line;
    else before_head_ += line;  // the head needs what the events before the first attempt say
  }

  void show(const Resume& resume) {
    std::string text = "resumed with " + fixed(resume.spent_s, 1) + " s spent";
    if (resume.torn_line) text += ", a torn line was put aside";
    if (resume.uuid != resume.previous_uuid)
      text += ", on another device: " + one_line(resume.previous_uuid) + " -> " + one_line(resume.uuid) +
              "; all is measured anew";
    aside(text);
  }

  void show(const Decision& decision) {
    const Attempt* attempt = state_.find(decision.candidate);
    if (!attempt) return;
    shown_.resize(state_.attempts.size(), false);
    shown_[state_.attempt_of.at(decision.candidate)] = true;
    if (!wanted(decision)) return;
    head();
    const Attempt* parent = state_.find(attempt->candidate.parent);
    const bool keep = decision.verdict == "keep";
    out_ << paint(keep ? "\033[32m" : decision.verdict == "revert" ? "" : "\033[33m")
         << row(fixed(state_.active_s, 1) + " s", one_line(attempt->candidate.id),
                parent ? one_line(parent->candidate.id) : "-", one_line(decision.outcome),
                decision.us ? micros(*decision.us) : "-", decision.ratio ? factor(*decision.ratio) : "-",
                one_line(decision.verdict))
         << changes(*attempt, parent);
    if (!decision.reason.empty()) out_ << "; " << one_line(decision.reason, kNoteWidth);
    out_ << paint("\033[0m") << "\n";
    show_details(*attempt, parent);
    if (options_.diff && keep && parent) show_diff(attempt->candidate, parent->candidate);
  }

  void detail(const std::string& text) { out_ << std::string(11, ' ') << text << "\n"; }

  void show_details(const Attempt& attempt, const Attempt* parent) {
    if (parent && !attempt.candidate.note.empty()) detail("why: " + one_line(attempt.candidate.note, kNoteWidth));
    if (attempt.compile && !attempt.compile->ok && !attempt.compile->log.empty())
      detail("compiler: " + one_line(attempt.compile->log, kNoteWidth));
    for (const Gate& gate : attempt.gates)
      if (gate.verdict == "fail") detail(gate_line(gate));
  }

  void show_diff(const Candidate& candidate, const Candidate& parent) {
    if (candidate.source_sha256 == parent.source_sha256) return;
    const Result<std::string> before = read_blob(run_, parent.source_sha256);
    const Result<std::string> after = read_blob(run_, candidate.source_sha256);
    if (!before || !after) return detail("no diff: " + one_line((before ? after : before).error().message));
    out_ << "--- " << one_line(parent.id) << "\n+++ " << one_line(candidate.id) << "\n" << source_diff(*before, *after);
  }

  // Attempts that no decision follows: the process died, or the next leg began.
  void show_undecided() {
    shown_.resize(state_.attempts.size(), false);
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (shown_[i]) continue;
      shown_[i] = true;
      if (!options_.only.empty()) continue;
      head();
      const Attempt& attempt = state_.attempts[i];
      const Attempt* parent = state_.find(attempt.candidate.parent);
      out_ << row(fixed(attempt.t, 1) + " s", one_line(attempt.candidate.id),
                  parent ? one_line(parent->candidate.id) : "-", "not judged", "-", "-", "-")
           << changes(attempt, parent) << "\n";
      show_details(attempt, parent);
    }
  }

  std::filesystem::path run_;
  const ViewOptions& options_;
  std::ostream& out_;
  SessionState state_;
  std::string first_ts_, before_head_;
  std::vector<bool> shown_;
  bool head_shown_ = false;
};

}  // namespace

Result<void> print_timeline(const std::filesystem::path& run, const ViewOptions& options, std::ostream& out) {
  const std::filesystem::path file = trace_file(run);
  Timeline timeline(file.has_parent_path() ? file.parent_path() : ".", options, out);
  const Result<ReadSummary> summary = read_trace(run, [&](const Record& record) {
    timeline.take(record);
    return true;
  });
  if (!summary) return because(summary.error());
  if (summary->events == 0) return invalid(file.string() + " holds no events yet");
  timeline.finish(*summary);
  return {};
}

Result<void> follow_timeline(const std::filesystem::path& run, const ViewOptions& options, std::ostream& out,
                             const std::function<bool()>& wait) {
  const std::filesystem::path file = trace_file(run);
  Result<LineSource> source = LineSource::open(file);
  if (!source) return because(source.error());
  Timeline timeline(file.has_parent_path() ? file.parent_path() : ".", options, out);
  LineParser parser;
  ReadSummary summary;
  for (bool ended = false; !ended;) {
    const Result<LineSource::Got> got = source->next();
    if (!got) return because(got.error(), file.string());
    if (*got == LineSource::Got::line) {
      const Result<ParsedLine> parsed = parser.parse(source->text());
      if (!parsed) return because(parsed.error(), file.string() + ": line " + std::to_string(source->number()));
      if (!parsed->known) continue;
      timeline.take(parsed->record);
      ++summary.events;
      ended = std::holds_alternative<SessionEnd>(parsed->record.event);
      continue;
    }
    if (*got == LineSource::Got::torn) source->put_back_torn();
    out.flush();
    if (wait()) continue;
    summary.torn_last_line = *got == LineSource::Got::torn;
    break;
  }
  if (summary.events == 0) return invalid(file.string() + " holds no events yet");
  timeline.finish(summary);
  return {};
}

}  // namespace onelaunch::traces
