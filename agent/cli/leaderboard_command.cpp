#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/regrade.h"
#include "agent/cli/terminal.h"
#include "traces/html/site.h"
#include "traces/leaderboard.h"

namespace onelaunch::cli {
namespace {

struct LeaderboardOptions {
  std::vector<std::string> paths{"traces/runs"};
  traces::BoardFormat format = traces::BoardFormat::table;
  bool json = false;
  std::string html, device;
  int check = 0;  // so many entries; 0: none
};

constexpr double kAgreement = 0.03;  // of two machines of one class

// "confirmed", "fails: wrong_answer", ...
std::string check_words(const RegradeReport& graded) {
  const RegradedKernel& kernel = graded.kernels.front();
  if (kernel.outcome != "passed") return "fails: " + kernel.outcome;
  if (!kernel.quarantine.empty()) return "quarantined";
  const std::string time = kernel.here ? format_number("%.2f us ", *kernel.here) + graded.here_kind : "not timed";
  if (!graded.same_device() || !kernel.ratio) return "passes; " + time + " on " + graded.here_device;
  const bool agrees = *kernel.ratio < 1 + kAgreement && *kernel.ratio > 1 - kAgreement;
  return (agrees ? "confirmed, " : "passes, but takes ") + time;
}

// The best kernels of the first ranked entries of each board; what cannot be graded says why.
bool check_entries(traces::Board& board, const LeaderboardOptions& options) {
  const SystemClock clock;
  ProgressLine progress;
  bool all_good = true;
  for (traces::BoardRow& row : board.rows) {
    if (row.rank == 0 || row.rank > options.check) continue;
    const auto busy = [&](const std::string& what) { progress.busy(row.run + ": " + what); };
    const auto graded = regrade_run({.run = row.run, .device = options.device, .only_best = true, .busy = busy}, clock);
    row.check = graded ? check_words(*graded) : "not possible: " + first_line(graded.error().message);
    all_good = all_good && graded && graded->all_passed();
  }
  progress.done();
  return all_good;
}

int print_leaderboard(const LeaderboardOptions& options) {
  auto board = traces::make_board({options.paths.begin(), options.paths.end()});
  if (!board) return report(board.error());
  const int code = options.check == 0 || check_entries(*board, options) ? kOk : kRejected;
  if (!options.html.empty()) {
    const Result<void> written = traces::write_board_site(*board, options.html);
    if (!written) return report(written.error());
    std::cout << "wrote " << options.html << "/index.html\n";
    return code;
  }
  std::cout << traces::print_board(*board, options.json ? traces::BoardFormat::json : options.format);
  for (const std::string& skipped : board->skipped) std::cerr << "skipped " << skipped << "\n";
  return code;
}

}  // namespace

void add_leaderboard_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<LeaderboardOptions>();
  CLI::App* command = app.add_subcommand("leaderboard", "Rank recorded sessions. Needs no GPU but for checking measured ones.");
  command->add_option("PATH", options->paths, "Run directories, traces, or folders of them (default traces/runs)");
  const std::map<std::string, traces::BoardFormat> formats = {{"table", traces::BoardFormat::table},
                                                              {"md", traces::BoardFormat::md},
                                                              {"csv", traces::BoardFormat::csv},
                                                              {"json", traces::BoardFormat::json}};
  command->add_option("--format", options->format, "table, md, csv or json")
      ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case));
  command->add_flag("--json", options->json, "The same as --format json");
  command->add_option("--html", options->html, "Write a static site, with a page for each session, into this folder");
  CLI::Option* check = command->add_option("--check", options->check, "Grade the best kernels of the first N ranks again here, and mark them (default 1)");
  check->expected(0, 1)->default_str("1")->check(CLI::Range(1, 1000));
  command->add_option("--device", options->device, "Of --check: auto, cuda:N or emu (default: emu for runs on emu)");
  command->footer(
      "Exit status 3 when an entry that is checked fails here.\n"
      "Example:\n  onelaunch leaderboard traces/runs --format md\n  onelaunch leaderboard traces/runs --check 3");
  command->callback([options, &exit_code] { exit_code = print_leaderboard(*options); });
}

}  // namespace onelaunch::cli
