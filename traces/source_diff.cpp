#include "traces/source_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "traces/text.h"

namespace onelaunch::traces {
namespace {

constexpr std::size_t kCellsMax = std::size_t{1} << 24;  // of the table below: 64 MB
constexpr std::size_t kContext = 3;

struct Step {
  char mark;  // ' ', '-', '+'
  std::string_view line;
  std::size_t before, after;  // line numbers from 1, of this or the next line on each side
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The longest common subsequence by its table of lengths. Beyond kCellsMax everything counts as replaced: still a
// correct diff, only a longer one.
std::vector<char> script(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<char> marks;
  const std::size_t n = a.size(), m = b.size(), row = m + 1;
  if ((n + 1) > kCellsMax / row) {
    marks.assign(n, '-');
    marks.insert(marks.end(), m, '+');
    return marks;
  }
  std::vector<std::uint32_t> common((n + 1) * row, 0);
  for (std::size_t i = n; i-- > 0;)
    for (std::size_t j = m; j-- > 0;)
      common[i * row + j] = a[i] == b[j] ? common[(i + 1) * row + j + 1] + 1
                                         : std::max(common[(i + 1) * row + j], common[i * row + j + 1]);
  for (std::size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && a[i] == b[j]) {
      marks.push_back(' ');
      ++i, ++j;
    } else if (i < n && (j == m || common[(i + 1) * row + j] >= common[i * row + j + 1])) {
      marks.push_back('-');
      ++i;
    } else {
      marks.push_back('+');
      ++j;
    }
  }
  return marks;
}

std::vector<Step> steps_of(std::vector<std::string_view> a, std::vector<std::string_view> b) {
  std::size_t head = 0, tail = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const auto middle = [&](const std::vector<std::string_view>& all) {
    return std::vector<std::string_view>(all.begin() + static_cast<std::ptrdiff_t>(head),
                                         all.end() - static_cast<std::ptrdiff_t>(tail));
  };
  std::vector<char> marks(head, ' ');
  const std::vector<char> changed = script(middle(a), middle(b));
  marks.insert(marks.end(), changed.begin(), changed.end());
  marks.insert(marks.end(), tail, ' ');
  std::vector<Step> steps;
  std::size_t i = 0, j = 0;
  for (const char mark : marks) {
    steps.push_back({mark, mark == '+' ? b[j] : a[i], i + 1, j + 1});
    i += mark != '+';
    j += mark != '-';
  }
  return steps;
}

std::string hunk(const std::vector<Step>& steps, std::size_t from, std::size_t to) {
  std::string body;
  std::size_t before = 0, after = 0;
  for (std::size_t i = from; i < to; ++i) {
    body += std::string(1, steps[i].mark) + one_line(steps[i].line) + "\n";
    before += steps[i].mark != '+';
    after += steps[i].mark != '-';
  }
  return "@@ -" + std::to_string(steps[from].before) + "," + std::to_string(before) + " +" +
         std::to_string(steps[from].after) + "," + std::to_string(after) + " @@\n" + body;
}

}  // namespace

std::string source_diff(std::string_view before, std::string_view after) {
  const std::vector<Step> steps = steps_of(lines_of(before), lines_of(after));
  std::string text;
  for (std::size_t i = 0; i < steps.size();) {
    if (steps[i].mark == ' ') {
      ++i;
      continue;
    }
    const std::size_t from = i - std::min(i, kContext);
    std::size_t last = i;  // the hunk goes on while the next change is within two contexts
    for (std::size_t j = i; j < steps.size() && j <= last + 2 * kContext; ++j)
      if (steps[j].mark != ' ') last = j;
    const std::size_t to = std::min(steps.size(), last + kContext + 1);
    text += hunk(steps, from, to);
    i = to;
  }
  return text;
}

}  // namespace onelaunch::traces
