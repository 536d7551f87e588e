#pragma once
// PTX and machine code for reading: counts by instruction, and the lines that match a pattern.

#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"

namespace onelaunch::agent {

// A regular expression over lines, in time that grows with its length times the line's, whatever it is; `{` and `}` stand
// for themselves. Fails (invalid_input) with what is wrong with it.
Result<std::function<bool(const std::string&)>> line_pattern(const std::string& pattern);

struct Excerpt {
  std::string text;               // "  12  line", whole lines
  std::size_t shown = 0, matches = 0;
  bool stopped = false;           // not all of the text was looked at
};
// `stop` is asked now and then.
Excerpt matching_lines(const std::string& text, const std::function<bool(const std::string&)>& matches, std::size_t bytes_max,
                       const std::function<bool()>& stop);

// "ld.global.v4.b32 212, fma.rn.f32 180, ..." of PTX, or opcodes of SASS, the most frequent first, at most `most`.
std::string ptx_counts(const std::string& ptx, std::size_t most);
std::string sass_counts(const std::string& sass, std::size_t most);

}  // namespace onelaunch::agent
