#pragma once
// The subcommands. Each adds itself to the program and puts its exit status into exit_code when it is run.

namespace CLI {
class App;
}

namespace onelaunch::cli {

constexpr const char* kHarnessVersion = "0.1.0";

void add_doctor_command(CLI::App& app, int& exit_code);
void add_tasks_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_eval_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_profile_command(CLI::App& app, int& exit_code);
void add_mcp_command(CLI::App& app, int& exit_code);
void add_microbench_command(CLI::App& app, int& exit_code);
void add_submit_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_trace_command(CLI::App& app, int& exit_code);
void add_leaderboard_command(CLI::App& app, int& exit_code);
void add_export_command(CLI::App& app, int& exit_code);

}  // namespace onelaunch::cli
