#include <algorithm>
#include <limits>

#include "agent/tools/desk.h"
#include "agent/tools/patch.h"
#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

constexpr std::size_t kAround = 3;         // lines shown before and after a change
constexpr std::size_t kMatchesNamed = 8, kHintBytes = 120;

std::string lines_word(std::size_t lines) { return std::to_string(lines) + (lines == 1 ? " line" : " lines"); }

// The changed lines with a few around them.
std::string window(const Desk& desk, std::size_t first, std::size_t last) {
  const std::vector<std::string_view> lines = lines_of(desk.source);
  const std::size_t from = first > kAround ? first - kAround : 1;
  const Listing listing = numbered(lines, from, last + kAround, desk.limits.reply_bytes / 4);
  std::string text = listing.text;
  if (listing.last < std::min(last + kAround, lines.size())) text += "... (read_kernel shows the rest)\n";
  return text;
}

std::optional<std::string> objection(const Desk& desk, const std::string& source) {
  if (source.size() > desk.limits.source_bytes)
    return "The source has " + std::to_string(source.size()) + " bytes; at most " + std::to_string(desk.limits.source_bytes) +
           " are taken.";
  if (source.find('\0') != std::string::npos) return "The source holds a NUL byte.";
  return std::nullopt;
}

std::vector<std::size_t> places_of(const std::string& source, const std::string& text) {
  std::vector<std::size_t> places;
  for (std::size_t at = source.find(text); at != std::string::npos; at = source.find(text, at + 1)) places.push_back(at);
  return places;
}

std::string trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
}

// Where the first line of what was not found is, white space apart.
std::string near_miss(const std::string& source, const std::string& old) {
  std::string first;
  for (const std::string_view line : lines_of(old))
    if (first = trimmed(line); !first.empty()) break;
  if (first.empty()) return "";
  const std::vector<std::string_view> lines = lines_of(source);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (trimmed(lines[i]) == first)
      return " Its first line is like line " + std::to_string(i + 1) + ": compare white space and the lines after it (read_kernel from " +
             std::to_string(i + 1) + ").";
  return " Not even its first line (`" + first.substr(0, kHintBytes) + "`) is there.";
}

}  // namespace

ToolReply read_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const std::vector<std::string_view> lines = lines_of(desk.source);
  if (lines.empty()) return answer("kernel.cu is empty.");
  const auto from = static_cast<std::size_t>(arguments.integer("from").value_or(1));
  const auto to = std::min(lines.size(), static_cast<std::size_t>(arguments.integer("to").value_or(std::numeric_limits<int>::max())));
  if (from > lines.size()) return refuse("kernel.cu has " + lines_word(lines.size()) + "; there is no line " + std::to_string(from) + ".");
  if (to < from) return refuse("`to` (" + std::to_string(to) + ") comes before `from` (" + std::to_string(from) + ").");
  const Listing listing = numbered(lines, from, to, desk.limits.listing_bytes);
  std::string text = "kernel.cu, lines " + std::to_string(from) + " to " + std::to_string(listing.last) + " of " +
                     std::to_string(lines.size()) + "\n" + listing.text;
  if (listing.last < to) text += "... go on with from " + std::to_string(listing.last + 1) + "\n";
  return answer(text);
}

ToolReply write_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  const std::string source = arguments.text("source");
  if (const auto why = objection(desk, source)) return refuse(*why);
  if (source.find_first_not_of(" \t\r\n") == std::string::npos) return refuse("The source is empty; kernel.cu stays as it is.");
  const bool same = source == desk.source;
  desk.source = source;
  return answer(same ? "kernel.cu was that already."
                     : "kernel.cu written: " + lines_word(lines_of(source).size()) + ", " + std::to_string(source.size()) + " bytes.");
}

ToolReply replace_text(Desk& desk, const Arguments& arguments, Deadline) {
  const std::string old = arguments.text("old"), fresh = arguments.text("new");
  if (old.empty()) return refuse("`old` is empty; write_kernel replaces the whole file.");
  if (old == fresh) return refuse("`old` and `new` are the same; nothing to do.");
  const std::vector<std::size_t> places = places_of(desk.source, old);
  if (places.empty()) return refuse("`old` is not in kernel.cu." + near_miss(desk.source, old));
  if (places.size() > 1) {
    std::string lines;
    for (std::size_t i = 0; i < std::min(places.size(), kMatchesNamed); ++i)
      lines += (i == 0 ? "" : ", ") + std::to_string(line_at(desk.source, places[i]));
    if (places.size() > kMatchesNamed) lines += ", ...";
    return refuse("`old` is in kernel.cu " + std::to_string(places.size()) + " times, at lines " + lines +
                  "; make it unique with more of what surrounds it.");
  }
  std::string source = desk.source;
  source.replace(places.front(), old.size(), fresh);
  if (const auto why = objection(desk, source)) return refuse(*why);
  desk.source = std::move(source);
  const std::size_t first = line_at(desk.source, places.front());
  const std::size_t last = line_at(desk.source, places.front() + fresh.size());
  return answer("Replaced at line " + std::to_string(first) + "; kernel.cu now has " + lines_word(lines_of(desk.source).size()) + ":\n" +
                window(desk, first, last));
}

ToolReply patch_kernel(Desk& desk, const Arguments& arguments, Deadline) {
  Result<Patched> patched = apply_patch(desk.source, arguments.text("patch"));
  if (!patched) return refuse(patched.error().message + "\nNothing was changed.");
  if (const auto why = objection(desk, patched->text)) return refuse(*why);
  if (patched->text == desk.source) return refuse("The patch changes nothing.");
  desk.source = std::move(patched->text);
  std::string text = "Applied " + std::to_string(patched->changes.size()) + (patched->changes.size() == 1 ? " hunk" : " hunks") +
                     "; kernel.cu now has " + lines_word(lines_of(desk.source).size()) + ":\n";
  for (std::size_t i = 0; i < patched->changes.size(); ++i)
    text += (i == 0 ? "" : "...\n") + window(desk, patched->changes[i].first, patched->changes[i].last);
  return answer(clipped(text, desk.limits.reply_bytes, "read_kernel shows them"));
}

}  // namespace onelaunch::agent
