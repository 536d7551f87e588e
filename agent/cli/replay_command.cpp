#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "agent/cli/commands.h"
#include "agent/cli/exit_code.h"
#include "agent/cli/redrive.h"
#include "agent/cli/regrade.h"
#include "agent/cli/signals.h"
#include "agent/cli/terminal.h"
#include "traces/foreign/export.h"
#include "traces/foreign/transcript.h"
#include "traces/html/site.h"
#include "traces/html/transcript_page.h"
#include "traces/reader.h"
#include "traces/view.h"

namespace onelaunch::cli {
namespace {

struct ReplayOptions {
  std::string run;
  bool view = false, diff = false, follow = false;
  std::string only, html;
  std::vector<std::string> exported;  // format, file
  bool regrade = false, redrive = false, json = false;
  std::string device, out;
};

// The process that last wrote the run, from its lock file; 0 when that does not say.
pid_t writer_of(const std::filesystem::path& run) {
  pid_t pid = 0;
  std::ifstream(traces::trace_file(run).parent_path() / "writer.lock") >> pid;
  return pid > 0 ? pid : 0;
}

// Half a second at a time; over when the writer has been gone for a whole turn.
std::function<bool()> wait_for(const std::string& run) {
  return [run, gone = false]() mutable {
    if (gone) {
      std::cout << "nobody writes this session any more\n";
      return false;
    }
    const pid_t writer = writer_of(run);
    gone = writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return true;
  };
}

Result<void> export_session(const ReplayOptions& options) {
  const std::string &format = options.exported.at(0), &file = options.exported.at(1);
  if (format != "atif" && format != "otel") return invalid("--export writes atif or otel, not " + format);
  const Result<traces::Transcript> transcript = traces::looks_foreign(options.run) ? traces::read_transcript(options.run)
                                                                                   : traces::transcript_of_trace(options.run);
  if (!transcript) return because(transcript.error());
  const std::string text = format == "atif" ? traces::print_atif(*transcript) : traces::print_otel(*transcript);
  if (file == "-") {
    std::cout << text;
    return {};
  }
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) return unavailable("cannot write " + file);
  std::cout << "wrote " << file << "\n";
  return {};
}

int replay_transcript(const ReplayOptions& options) {
  const Result<traces::Transcript> transcript = traces::read_transcript(options.run);
  if (!transcript) return report(transcript.error());
  if (!options.html.empty()) {
    const Result<void> written = traces::write_transcript_site(*transcript, options.html);
    if (!written) return report(written.error());
    std::cout << "wrote " << options.html << "/index.html\n";
    if (!options.view) return kOk;
  }
  traces::print_transcript(*transcript, {.color = ::isatty(STDOUT_FILENO) == 1}, std::cout);
  return kOk;
}

int replay_regrade(const ReplayOptions& options) {
  const SystemClock clock;
  ProgressLine progress;
  const Result<RegradeReport> graded = regrade_run(
      {.run = options.run, .device = options.device, .busy = [&](const std::string& what) { progress.busy(what); }}, clock);
  progress.done();
  if (!graded) return report(graded.error());
  std::cout << (options.json ? regrade_json(*graded) : regrade_text(*graded));
  return graded->all_passed() ? kOk : kRejected;
}

// Shows what goes on; the result is printed at the end.
class QuietObserver final : public agent::Observer {
 public:
  void say(const std::string&, const std::string&) override {}
  void busy(const std::string& what) override { progress_.busy(what); }
  void decided(const agent::Report&) override {}
  void done() { progress_.done(); }

 private:
  ProgressLine progress_;
};

// A folder that goes away with its content, for a session that nobody asked to keep.
struct DroppedFolder {
  std::filesystem::path path;
  ~DroppedFolder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

int replay_redrive(const ReplayOptions& options) {
  DroppedFolder dropped;
  std::filesystem::path out = options.out;
  if (out.empty()) {
    std::string made = (std::filesystem::temp_directory_path() / "onelaunch-redrive-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) return report(Error{Error::Kind::unavailable, "cannot make a folder in " + made});
    dropped.path = made;
    out = dropped.path / "run";
  }
  const SystemClock clock;
  agent::StopRequest stop;
  const SignalWatcher watcher([&] { stop.raise(); });
  QuietObserver observer;
  const Result<RedriveReport> driven = redrive_run({.run = options.run, .out = out, .device = options.device}, clock, observer, stop);
  observer.done();
  if (!driven) return report(driven.error());
  std::cout << (options.json ? redrive_json(*driven) : redrive_text(*driven));
  return kOk;
}

int replay(const ReplayOptions& options) {
  if (options.regrade || options.redrive) {
    if (traces::looks_foreign(options.run))
      return report(Error{Error::Kind::invalid_input, options.run + " is another program's transcript: it holds no kernels of ours"});
    return options.regrade ? replay_regrade(options) : replay_redrive(options);
  }
  if (!options.exported.empty()) {
    const Result<void> done = export_session(options);
    return done ? kOk : report(done.error());
  }
  if (traces::looks_foreign(options.run)) return replay_transcript(options);
  if (!options.html.empty()) {
    const Result<void> written = traces::write_session_site(options.run, options.html);
    if (!written) return report(written.error());
    std::cout << "wrote " << options.html << "/index.html\n";
    if (!options.view) return kOk;
  }
  const traces::ViewOptions view{.color = ::isatty(STDOUT_FILENO) == 1, .diff = options.diff, .only = options.only};
  const Result<void> printed = options.follow ? traces::follow_timeline(options.run, view, std::cout, wait_for(options.run))
                                              : traces::print_timeline(options.run, view, std::cout);
  return printed ? kOk : report(printed.error());
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Show what a recorded session did, or do it again. Showing needs no GPU.");
  command->add_option("RUN", options->run, "Run directory, its events.jsonl, or another program's transcript")->required();
  command->add_flag("--view", options->view, "Print the timeline (what replay does when nothing else is asked)");
  command->add_flag("--diff", options->diff, "With the source diff of each kept candidate to its parent");
  command->add_option("--only", options->only, "Only candidates that were kept, reverted, rejected (failed a gate) or quarantined")
      ->check(CLI::IsMember({"keep", "revert", "reject", "quarantine"}));
  command->add_option("--export", options->exported, "Write it as `atif` or `otel` (OpenTelemetry GenAI) into a file; - prints")
      ->expected(2)
      ->type_name("FORMAT FILE");
  command->add_flag("--follow", options->follow, "Go on with a session that is running, until it ends");
  command->add_option("--html", options->html, "Write a static page of the session into this folder");
  CLI::Option* regrade = command->add_flag("--regrade", options->regrade,
                                           "Compile and grade every kept candidate here; recorded beside measured. Only reads the run");
  command->add_flag("--redrive", options->redrive, "Judge the recorded candidates again by today's gates and rules; says what differs")
      ->excludes(regrade);
  command->add_option("--device", options->device, "Of --regrade and --redrive: auto, cuda:N or emu (default: emu for a run on emu)");
  command->add_option("--out", options->out, "Keep the session that --redrive makes in this folder");
  command->add_flag("--json", options->json, "Of --regrade and --redrive: the result as JSON");
  command->footer(
      "Example:\n  onelaunch replay traces/runs/20261201T050906Z-kimi_linear_decode-tuner --view --only keep\n"
      "  onelaunch replay traces/runs/my-run --html report\n"
      "  onelaunch replay traces/runs/my-run --regrade --device cuda:0\n"
      "  onelaunch replay transcript.jsonl --export atif trajectory.json\n"
      "Transcripts of Claude Code, Codex, OpenCode, Gemini CLI, SWE-agent, mini-swe-agent and KernelBench-Mega run\n"
      "folders are recognised by their content.");
  command->callback([options, &exit_code] { exit_code = replay(*options); });
}

}  // namespace onelaunch::cli
