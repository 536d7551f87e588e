#pragma once
// The report's pages, style and scripts, built into the program.

#include <string_view>

namespace onelaunch::traces {

struct Asset {
  std::string_view name;     // of its file in a site: "report.js"
  std::string_view content;
};

std::string_view board_page();    // HTML with the places @TITLE@ and @DATA@
std::string_view session_page();  // HTML with the places @TITLE@, @DATA@ and @BOARD@

std::string_view shipped_external_file();  // of format onelaunch.external/1

// report.css, our scripts and the two libraries.
inline constexpr int kAssets = 9;
Asset asset(int index);

}  // namespace onelaunch::traces
