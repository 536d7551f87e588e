#pragma once
// Words and numbers for the terminal, shared by the timeline and the leaderboard.

#include <string>
#include <string_view>
#include <vector>

namespace onelaunch::traces {

// One line that cannot steer a terminal: control and direction-changing characters become spaces; cut at `width`
// characters (0: not cut), which shows as "...".
std::string one_line(std::string_view text, std::size_t width = 0);

std::size_t width_of(std::string_view utf8);  // in characters
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);

std::string fixed(double value, int digits);
std::string micros(double us);        // "88.10", "1234.5": without the unit
std::string factor(double ratio);     // "1.035x", "12.4x"
std::string percent(double share);    // 0.412 -> "41.2 %"

enum class Align { left, right };
// Columns as wide as their widest cell, two spaces between. The first row is the heading, underlined.
std::string columns(const std::vector<std::vector<std::string>>& rows, const std::vector<Align>& align);

}  // namespace onelaunch::traces
