#pragma once
// Source text by lines, and what of a long text is shown.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::agent {

// Without their ends. A last line without an end counts; an empty text has none.
std::vector<std::string_view> lines_of(std::string_view text);
// From 1, of a byte's place.
std::size_t line_at(std::string_view text, std::size_t byte);

// Lines `from` to `to` (from 1, both shown) as "  12  code"; at most `bytes_max` bytes of whole lines. `last`: the last line
// that was shown; 0 when none.
struct Listing {
  std::string text;
  std::size_t last = 0;
};
Listing numbered(const std::vector<std::string_view>& lines, std::size_t from, std::size_t to, std::size_t bytes_max);

// The head and the tail of what is longer than `bytes_max`, cut at lines where they are short enough, with the number of
// bytes left out and `the_rest`, which says how to get them, between. Never cuts a UTF-8 character.
std::string clipped(const std::string& text, std::size_t bytes_max, const std::string& the_rest);

}  // namespace onelaunch::agent
