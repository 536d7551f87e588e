#include "agent/tools/patch.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "agent/tools/text_lines.h"

namespace onelaunch::agent {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kShownBytes = 120, kPlacesNamed = 8;
constexpr const char* kForm = " The form is:\n*** Begin Patch\n*** Update File: kernel.cu\n@@\n unchanged\n-removed\n+added\n*** End Patch";

struct Hunk {
  std::vector<std::string> anchors;  // of its @@ lines
  Lines before, after;
  std::size_t first_changed = 0, last_changed = 0;  // of `after`, from 0
  bool at_end = false;
  std::size_t line = 0;              // of the patch
};

std::string shown(std::string_view line) {
  return "`" + std::string(line.substr(0, kShownBytes)) + (line.size() > kShownBytes ? "..." : "") + "`";
}

std::string_view without_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}
std::string_view without_space(std::string_view line) {
  line = without_end(line);
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

enum class Care { exact, ends, all };
bool alike(std::string_view a, std::string_view b, Care care) {
  if (care == Care::exact) return a == b;
  return care == Care::ends ? without_end(a) == without_end(b) : without_space(a) == without_space(b);
}

bool fits(const Lines& file, const Lines& wanted, std::size_t at, Care care) {
  if (at + wanted.size() > file.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!alike(file[at + i], wanted[i], care)) return false;
  return true;
}

std::vector<std::size_t> places(const Lines& file, const Lines& wanted, std::size_t from, Care care) {
  std::vector<std::size_t> found;
  for (std::size_t at = from; at + wanted.size() <= file.size(); ++at)
    if (fits(file, wanted, at, care)) found.push_back(at);
  return found;
}

// The place where most lines fit from the first on.
std::string closest(const Lines& file, const Hunk& hunk, std::size_t from) {
  std::size_t best = 0, best_at = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::size_t same = 0;
    while (same < hunk.before.size() && at + same < file.size() && alike(file[at + same], hunk.before[same], Care::all)) ++same;
    if (same > best) best = same, best_at = at;
  }
  if (best == 0) return " Its first line " + shown(hunk.before.front()) + " is nowhere in kernel.cu.";
  const std::string place = " Closest is line " + std::to_string(best_at + 1);
  if (best == hunk.before.size())
    return place + (best_at < from ? ", but that comes before an earlier hunk: hunks must be in file order." : ".");
  const std::size_t at = best_at + best;
  return place + ", where " + std::to_string(best) + " of its " + std::to_string(hunk.before.size()) + " lines fit; then the patch has " +
         shown(hunk.before[best]) + " and line " + std::to_string(at + 1) + " of kernel.cu " +
         (at < file.size() ? "is " + shown(file[at]) : "is not there") + ".";
}

class Reader {
 public:
  explicit Reader(const std::string& patch) : lines_(lines_of(patch)) {}

  Result<std::vector<Hunk>> read() {
    while (at_ < lines_.size() && without_space(lines_[at_]).empty()) ++at_;
    if (at_ >= lines_.size() || without_end(lines_[at_]) != "*** Begin Patch")
      return invalid(std::string("The patch must begin with *** Begin Patch.") + kForm);
    bool file = false, ended = false;
    for (++at_; at_ < lines_.size() && !ended; ++at_) {
      const std::string_view line = lines_[at_];
      if (line.starts_with("*** ")) {
        const auto head = header(without_end(line), file);
        if (!head) return because(head.error());
        ended = *head;
      } else if (!file) {
        return invalid("Line " + here() + " of the patch comes before *** Update File: kernel.cu." + kForm);
      } else if (auto taken = body(line); !taken) {
        return because(taken.error());
      }
    }
    if (!ended) return invalid("The patch does not end with *** End Patch; was it cut off?");
    std::erase_if(hunks_, [](const Hunk& hunk) { return hunk.before.empty() && hunk.after.empty() && hunk.anchors.empty(); });
    if (hunks_.empty()) return invalid(std::string("The patch has no hunks.") + kForm);
    return std::move(hunks_);
  }

 private:
  std::string here() const { return std::to_string(at_ + 1); }

  // Whether the patch ends here.
  Result<bool> header(std::string_view line, bool& file) {
    if (line == "*** End Patch") return true;
    if (line == "*** End of File") {
      if (!hunks_.empty()) hunks_.back().at_end = true;
      return false;
    }
    constexpr std::string_view kUpdate = "*** Update File: ";
    if (!line.starts_with(kUpdate)) return invalid("Line " + here() + " of the patch, " + shown(line) + ", is not possible here: there is one file, kernel.cu, to update.");
    const std::string_view name = without_space(line.substr(kUpdate.size()));
    if (name != "kernel.cu" && !name.ends_with("/kernel.cu")) return invalid("There is one file, kernel.cu; the patch is for " + shown(name) + ".");
    file = true;
    return false;
  }

  Result<void> body(std::string_view line) {
    if (line.starts_with("@@")) {
      if (hunks_.empty() || !hunks_.back().before.empty() || !hunks_.back().after.empty()) begin();
      const std::string_view anchor = without_space(line.substr(2));
      // "@@ -1,3 +1,4 @@" counts lines, which models seldom get right.
      if (!anchor.empty() && !(anchor.starts_with("-") && anchor.find("@@") != std::string_view::npos))
        hunks_.back().anchors.emplace_back(anchor);
      return {};
    }
    if (hunks_.empty()) begin();
    Hunk& hunk = hunks_.back();
    const char mark = line.empty() ? ' ' : line.front();
    const std::string rest(line.empty() ? line : line.substr(1));
    if (mark != ' ' && mark != '-' && mark != '+')
      return invalid("Line " + here() + " of the patch, " + shown(line) + ", begins with none of ` `, `-`, `+` and `@@`.");
    if (mark != '+') hunk.before.push_back(rest);
    if (mark != '-') hunk.after.push_back(rest);
    if (mark == ' ') return {};
    const std::size_t place = hunk.after.empty() ? 0 : hunk.after.size() - 1;
    if (!changed_) hunk.first_changed = place;
    hunk.last_changed = place;
    changed_ = true;
    return {};
  }

  void begin() {
    hunks_.push_back({.line = at_ + 1});
    changed_ = false;
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  bool changed_ = false;
  std::vector<Hunk> hunks_;
};

std::string name_of(const Hunk& hunk) { return "The hunk at line " + std::to_string(hunk.line) + " of the patch"; }

// The line after the last of its anchors.
Result<std::size_t> after_anchors(const Lines& file, const Hunk& hunk, std::size_t from) {
  for (const std::string& anchor : hunk.anchors) {
    std::size_t at = from;
    while (at < file.size() && without_space(file[at]) != anchor) ++at;
    if (at == file.size())
      for (at = from; at < file.size() && file[at].find(anchor) == std::string::npos;) ++at;
    if (at == file.size()) return invalid(name_of(hunk) + ": there is no line " + shown(anchor) + " after line " + std::to_string(from) + ".");
    from = at + 1;
  }
  return from;
}

Result<std::size_t> place_of(const Lines& file, const Hunk& hunk, std::size_t from) {
  const Result<std::size_t> start = after_anchors(file, hunk, from);
  if (!start) return start;
  if (hunk.before.empty()) {
    if (hunk.at_end || hunk.anchors.empty()) return hunk.at_end ? file.size() : *start;
    return *start;
  }
  for (const Care care : {Care::exact, Care::ends, Care::all}) {
    std::vector<std::size_t> found = places(file, hunk.before, *start, care);
    // An anchor that is part of the hunk itself.
    if (found.empty() && !hunk.anchors.empty() && *start > from) found = places(file, hunk.before, *start - 1, care);
    if (found.empty()) continue;
    if (hunk.at_end) return found.back();
    if (found.size() == 1 || !hunk.anchors.empty()) return found.front();
    std::string lines;
    for (std::size_t i = 0; i < std::min(found.size(), kPlacesNamed); ++i) lines += (i == 0 ? "" : ", ") + std::to_string(found[i] + 1);
    return invalid(name_of(hunk) + " fits at " + std::to_string(found.size()) + " places, lines " + lines +
                   (found.size() > kPlacesNamed ? ", ..." : "") + "; add unchanged lines around it, or a line before it as @@ line.");
  }
  return invalid(name_of(hunk) + " fits nowhere after line " + std::to_string(*start) + "." + closest(file, hunk, *start));
}

}  // namespace

Result<Patched> apply_patch(const std::string& text, const std::string& patch) {
  Result<std::vector<Hunk>> hunks = Reader(patch).read();
  if (!hunks) return because(hunks.error());
  Lines file;
  for (const std::string_view line : lines_of(text)) file.emplace_back(line);
  Patched patched;
  std::size_t from = 0;
  for (const Hunk& hunk : *hunks) {
    if (hunk.before.empty() && hunk.after.empty()) return invalid(name_of(hunk) + " changes nothing.");
    const Result<std::size_t> at = place_of(file, hunk, from);
    if (!at) return because(at.error());
    // What the patch calls unchanged stays as the file has it.
    Lines fresh = hunk.after;
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(*at);
    for (std::string& line : fresh)
      for (auto old = begin; old != begin + static_cast<std::ptrdiff_t>(hunk.before.size()); ++old)
        if (line != *old && std::ranges::find(hunk.before, line) != hunk.before.end() && alike(line, *old, Care::all)) {
          line = *old;
          break;
        }
    file.erase(begin, begin + static_cast<std::ptrdiff_t>(hunk.before.size()));
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(*at), fresh.begin(), fresh.end());
    patched.changes.push_back({.first = *at + hunk.first_changed + 1, .last = *at + hunk.last_changed + 1});
    from = *at + fresh.size();
  }
  for (const std::string& line : file) patched.text += line + "\n";
  const bool had_end = text.empty() || text.back() == '\n';
  if (!had_end && !patched.text.empty()) patched.text.pop_back();
  return patched;
}

}  // namespace onelaunch::agent
