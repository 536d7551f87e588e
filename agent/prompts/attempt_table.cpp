#include "agent/prompts/attempt_table.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace onelaunch::agent {
namespace {

constexpr std::size_t kCellBytesMax = 200;

// One line, short, without what would end the cell.
std::string cell(std::string text) {
  text = text.substr(0, text.find('\n'));
  std::ranges::replace(text, '|', '/');
  if (text.size() <= kCellBytesMax) return text;
  std::size_t cut = kCellBytesMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // never within a UTF-8 character
  return text.substr(0, cut) + "...";
}

std::string number(const char* format, const std::optional<double>& value) {
  if (!value) return "";
  char text[48];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

std::string values(const sandbox::TunableValues& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

std::string row(const Report& report) {
  std::string what = report.proposal.note.substr(0, report.proposal.note.find('\n'));
  if (const std::string tunables = values(report.proposal.tunables); !tunables.empty())
    what += (what.empty() ? "" : "; ") + tunables;
  return "| " + report.candidate + " | " + report.proposal.parent + " | " + name_of(report.verdict) + " | " +
         number("%.2f", report.us) + " | " + number("%.4f", report.over_incumbent) + " | " + cell(what) + " | " +
         (report.proposal.parent.empty() ? "what the session started from" : cell(report.reason)) + " |\n";
}

// All that were kept and the newest, at most kTableRowsMax.
std::vector<const Report*> shown(const std::vector<Report>& history) {
  std::size_t others = history.size() <= kTableRowsMax ? history.size() : 0;
  if (history.size() > kTableRowsMax) {
    const auto kept = static_cast<std::size_t>(
        std::ranges::count_if(history, [](const Report& report) { return report.verdict == Verdict::keep; }));
    others = kTableRowsMax - std::min(kept, kTableRowsMax / 2);
  }
  std::vector<const Report*> rows;
  std::size_t kept_left = kTableRowsMax - others;
  for (auto report = history.rbegin(); report != history.rend(); ++report) {
    std::size_t& room = report->verdict == Verdict::keep && kept_left > 0 ? kept_left : others;
    if (room == 0) continue;
    --room;
    rows.push_back(&*report);
  }
  std::ranges::reverse(rows);
  return rows;
}

}  // namespace

std::string attempt_table(const std::vector<Report>& history) {
  if (history.size() <= 1) return "None yet, but the seed.\n";
  std::string table =
      "| id | made from | verdict | us | x over the incumbent of then | what | why so |\n|---|---|---|---|---|---|---|\n";
  const std::vector<const Report*> rows = shown(history);
  for (const Report* report : rows) table += row(*report);
  if (rows.size() < history.size())
    table += std::to_string(history.size() - rows.size()) + " more attempts are not shown: `history` lists them.\n";
  return table;
}

}  // namespace onelaunch::agent
