#include "traces/html/assets.h"

#include <array>

#include "base/embed.h"

ONELAUNCH_EMBED(onelaunch_asset_board, ONELAUNCH_ASSETS "/board.html");
ONELAUNCH_EMBED(onelaunch_asset_session, ONELAUNCH_ASSETS "/session.html");
ONELAUNCH_EMBED(onelaunch_asset_style, ONELAUNCH_ASSETS "/report.css");
ONELAUNCH_EMBED(onelaunch_asset_script, ONELAUNCH_ASSETS "/report.js");
ONELAUNCH_EMBED(onelaunch_asset_board_script, ONELAUNCH_ASSETS "/board.js");
ONELAUNCH_EMBED(onelaunch_asset_session_script, ONELAUNCH_ASSETS "/session.js");
ONELAUNCH_EMBED(onelaunch_asset_charts_script, ONELAUNCH_ASSETS "/session_charts.js");
ONELAUNCH_EMBED(onelaunch_asset_kernel_script, ONELAUNCH_ASSETS "/session_kernel.js");
ONELAUNCH_EMBED(onelaunch_asset_source_script, ONELAUNCH_ASSETS "/source.js");
ONELAUNCH_EMBED(onelaunch_asset_external, ONELAUNCH_EXTERNAL);
ONELAUNCH_EMBED(onelaunch_asset_chart, ONELAUNCH_CHART_JS);
ONELAUNCH_EMBED(onelaunch_asset_highlight, ONELAUNCH_HIGHLIGHT_JS);

namespace onelaunch::traces {

std::string_view board_page() { return embedded(onelaunch_asset_board, onelaunch_asset_board_end); }
std::string_view session_page() { return embedded(onelaunch_asset_session, onelaunch_asset_session_end); }
std::string_view shipped_external_file() { return embedded(onelaunch_asset_external, onelaunch_asset_external_end); }

Asset asset(int index) {
  const std::array<Asset, kAssets> all = {{
      {"report.css", embedded(onelaunch_asset_style, onelaunch_asset_style_end)},
      {"report.js", embedded(onelaunch_asset_script, onelaunch_asset_script_end)},
      {"board.js", embedded(onelaunch_asset_board_script, onelaunch_asset_board_script_end)},
      {"session.js", embedded(onelaunch_asset_session_script, onelaunch_asset_session_script_end)},
      {"session_charts.js", embedded(onelaunch_asset_charts_script, onelaunch_asset_charts_script_end)},
      {"session_kernel.js", embedded(onelaunch_asset_kernel_script, onelaunch_asset_kernel_script_end)},
      {"source.js", embedded(onelaunch_asset_source_script, onelaunch_asset_source_script_end)},
      {"chart.js", embedded(onelaunch_asset_chart, onelaunch_asset_chart_end)},
      {"highlight.js", embedded(onelaunch_asset_highlight, onelaunch_asset_highlight_end)},
  }};
  return all.at(static_cast<std::size_t>(index));
}

}  // namespace onelaunch::traces
