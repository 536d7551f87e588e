#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "traces/html/site.h"
#include "traces/leaderboard.h"

namespace onelaunch::cli {
namespace {

struct LeaderboardOptions {
  std::vector<std::string> paths{"traces/runs"};
  traces::BoardFormat format = traces::BoardFormat::table;
  bool json = false;
  std::string html;
};

int print_leaderboard(const LeaderboardOptions& options) {
  const auto board = traces::make_board({options.paths.begin(), options.paths.end()});
  if (!board) return report(board.error());
  if (!options.html.empty()) {
    const Result<void> written = traces::write_board_site(*board, options.html);
    if (!written) return report(written.error());
    std::cout << "wrote " << options.html << "/index.html\n";
    return kOk;
  }
  std::cout << traces::print_board(*board, options.json ? traces::BoardFormat::json : options.format);
  for (const std::string& skipped : board->skipped) std::cerr << "skipped " << skipped << "\n";
  return kOk;
}

}  // namespace

void add_leaderboard_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<LeaderboardOptions>();
  CLI::App* command = app.add_subcommand("leaderboard", "Rank recorded sessions. Needs no GPU.");
  command->add_option("PATH", options->paths, "Run directories, traces, or folders of them (default traces/runs)");
  const std::map<std::string, traces::BoardFormat> formats = {{"table", traces::BoardFormat::table},
                                                              {"md", traces::BoardFormat::md},
                                                              {"csv", traces::BoardFormat::csv},
                                                              {"json", traces::BoardFormat::json}};
  command->add_option("--format", options->format, "table, md, csv or json")
      ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case));
  command->add_flag("--json", options->json, "The same as --format json");
  command->add_option("--html", options->html, "Write a static site, with a page for each session, into this folder");
  command->footer("Example:\n  onelaunch leaderboard traces/runs --format md");
  command->callback([options, &exit_code] { exit_code = print_leaderboard(*options); });
}

}  // namespace onelaunch::cli
