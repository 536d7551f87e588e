#include "traces/html/assets.h"

#include <array>

// The assembler copies each file as it is; the compiler never sees a megabyte of literals. Paths come from CMake.
#define ONELAUNCH_EMBED(name, path)                   \
  asm(".section .rodata\n"                            \
      ".global onelaunch_asset_" #name "\n"           \
      ".global onelaunch_asset_" #name "_end\n"       \
      "onelaunch_asset_" #name ":\n"                  \
      ".incbin \"" path "\"\n"                        \
      "onelaunch_asset_" #name "_end:\n"              \
      ".byte 0\n"                                     \
      ".previous\n");                                 \
  extern "C" const char onelaunch_asset_##name[];     \
  extern "C" const char onelaunch_asset_##name##_end[]

ONELAUNCH_EMBED(board, ONELAUNCH_ASSETS "/board.html");
ONELAUNCH_EMBED(session, ONELAUNCH_ASSETS "/session.html");
ONELAUNCH_EMBED(style, ONELAUNCH_ASSETS "/report.css");
ONELAUNCH_EMBED(script, ONELAUNCH_ASSETS "/report.js");
ONELAUNCH_EMBED(board_script, ONELAUNCH_ASSETS "/board.js");
ONELAUNCH_EMBED(session_script, ONELAUNCH_ASSETS "/session.js");
ONELAUNCH_EMBED(charts_script, ONELAUNCH_ASSETS "/session_charts.js");
ONELAUNCH_EMBED(kernel_script, ONELAUNCH_ASSETS "/session_kernel.js");
ONELAUNCH_EMBED(source_script, ONELAUNCH_ASSETS "/source.js");
ONELAUNCH_EMBED(external, ONELAUNCH_EXTERNAL);
ONELAUNCH_EMBED(chart, ONELAUNCH_CHART_JS);
ONELAUNCH_EMBED(highlight, ONELAUNCH_HIGHLIGHT_JS);

namespace onelaunch::traces {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view board_page() { return between(onelaunch_asset_board, onelaunch_asset_board_end); }
std::string_view session_page() { return between(onelaunch_asset_session, onelaunch_asset_session_end); }
std::string_view shipped_external_file() { return between(onelaunch_asset_external, onelaunch_asset_external_end); }

Asset asset(int index) {
  const std::array<Asset, kAssets> all = {{
      {"report.css", between(onelaunch_asset_style, onelaunch_asset_style_end)},
      {"report.js", between(onelaunch_asset_script, onelaunch_asset_script_end)},
      {"board.js", between(onelaunch_asset_board_script, onelaunch_asset_board_script_end)},
      {"session.js", between(onelaunch_asset_session_script, onelaunch_asset_session_script_end)},
      {"session_charts.js", between(onelaunch_asset_charts_script, onelaunch_asset_charts_script_end)},
      {"session_kernel.js", between(onelaunch_asset_kernel_script, onelaunch_asset_kernel_script_end)},
      {"source.js", between(onelaunch_asset_source_script, onelaunch_asset_source_script_end)},
      {"chart.js", between(onelaunch_asset_chart, onelaunch_asset_chart_end)},
      {"highlight.js", between(onelaunch_asset_highlight, onelaunch_asset_highlight_end)},
  }};
  return all.at(static_cast<std::size_t>(index));
}

}  // namespace onelaunch::traces
