#include <algorithm>
#include <limits>

#include "agent/tools/compile_text.h"
#include "agent/tools/desk.h"
#include "agent/tools/likeness.h"
#include "agent/tools/reporting_text.h"
#include "agent/tools/text_lines.h"
#include "traces/source_diff.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kRowsMax = 60, kCellBytes = 100;

std::string cell(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  std::ranges::replace(line, '|', '/');
  if (line.size() <= kCellBytes) return line;
  std::size_t cut = kCellBytes;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return line.substr(0, cut) + "...";
}

std::string optional_text(const char* format, const std::optional<double>& value) { return value ? number_text(format, *value) : ""; }

// "95.00 (it was +4.2 %)"
std::string prediction_cell(const Report& report) {
  if (!report.proposal.prediction_us) return "";
  std::string text = number_text("%.2f", *report.proposal.prediction_us);
  if (report.us && *report.proposal.prediction_us > 0)
    text += number_text(" (it was %+.1f %%)", (*report.us / *report.proposal.prediction_us - 1) * 100);
  return text;
}

// The time, or of a quick check the one context that it was about.
std::string time_cell(const Report& report) {
  if (report.us) return number_text("%.2f", *report.us);
  if (report.times.empty()) return report.outcome == "passed" ? "" : report.outcome;
  return number_text("%.2f", report.times.front().us) + " at " + std::to_string(report.times.front().context);
}

std::string row(const Report& report, const std::optional<Likeness>& near) {
  std::string what = cell(report.proposal.note);
  if (!report.proposal.tunables.empty()) what += (what.empty() ? "" : "; ") + cell(values_text(report.proposal.tunables));
  if (near)
    what += near->apart == 0 ? "; same code as " + near->id : "; near " + near->id + ", " + std::to_string(near->apart) + " words differ";
  return report.candidate + " | " + report.proposal.parent + " | " + name_of(report.verdict) + " | " + time_cell(report) + " | " +
         optional_text("%.4f", report.over_incumbent) + " | " + prediction_cell(report) + " | " + what + " | " + cell(report.reason) + "\n";
}

// The newest, and of the older ones those that were kept.
std::vector<std::size_t> shown_rows(const std::vector<Report>& history) {
  std::vector<std::size_t> rows;
  const auto kept = static_cast<std::size_t>(std::ranges::count(history, Verdict::keep, &Report::verdict));
  std::size_t others = history.size() <= kRowsMax ? history.size() : kRowsMax - std::min(kept, kRowsMax / 2);
  std::size_t keeps = kRowsMax - std::min(others, kRowsMax);
  for (std::size_t i = history.size(); i-- > 0;) {
    std::size_t& room = history[i].verdict == Verdict::keep && keeps > 0 ? keeps : others;
    if (room == 0) continue;
    --room;
    rows.push_back(i);
  }
  std::ranges::reverse(rows);
  return rows;
}

std::string table(const std::vector<Report>& history) {
  if (history.empty()) return "Nothing was judged yet.";
  std::string text = "id | from | verdict | us | x incumbent of then | predicted | what | why\n";
  Variations variations(history);
  const std::vector<std::size_t> rows = shown_rows(history);
  for (const std::size_t i : rows) text += row(history[i], variations.near(i));
  if (rows.size() < history.size())
    text += std::to_string(history.size() - rows.size()) + " older attempts that were not kept are left out; `id` shows any of them.\n";
  return text;
}

std::string attempt_text(const Desk& desk, const Report& report, std::size_t from) {
  std::string text = report_text(report, desk.bench.situation());
  if (report.proposal.prediction_us && !report.us) text += number_text("predicted: %.2f us\n", *report.proposal.prediction_us);
  if (!report.proposal.note.empty()) text += "note: " + report.proposal.note + "\n";
  if (!report.proposal.tunables.empty()) text += "tunables: " + values_text(report.proposal.tunables) + "\n";
  const Result<std::string> source = desk.bench.source_of(report.candidate);
  if (!source) return text + source.error().message + "\n";
  const std::size_t room = desk.limits.listing_bytes / 2;
  if (const auto parent = desk.bench.source_of(report.proposal.parent); from == 1 && parent && !report.proposal.parent.empty()) {
    const std::string diff = traces::source_diff(*parent, *source);
    text += diff.empty() ? "The source is that of " + report.proposal.parent + ".\n"
                         : "changes against " + report.proposal.parent + ":\n" + clipped(diff, room, "the source is below") + "\n";
  }
  const std::vector<std::string_view> lines = lines_of(*source);
  const Listing listing = numbered(lines, from, std::numeric_limits<std::size_t>::max(), room);
  text += "source, lines " + std::to_string(from) + " to " + std::to_string(listing.last) + " of " + std::to_string(lines.size()) + ":\n" + listing.text;
  if (listing.last > 0 && listing.last < lines.size()) text += "... go on with from " + std::to_string(listing.last + 1) + "\n";
  return text;
}

}  // namespace

ToolReply show_history(Desk& desk, const Arguments& arguments, Deadline) {
  const std::vector<Report>& history = desk.bench.history();
  const std::string id = arguments.text("id");
  if (id.empty()) return answer(clipped(table(history), desk.limits.listing_bytes, "`id` shows any of them"));
  const auto found = std::ranges::find(history, id, &Report::candidate);
  if (found == history.end()) {
    const Result<std::string> known = desk.bench.source_of(id);
    return refuse(known ? "There is no report of " + id + "." : known.error().message + ".");
  }
  return answer(attempt_text(desk, *found, static_cast<std::size_t>(arguments.integer("from").value_or(1))));
}

}  // namespace onelaunch::agent
