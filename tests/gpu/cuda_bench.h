#pragma once
// A real worker on GPU 0, spoken to as the host speaks to it, with kernels of rmsnorm_linear's tiny variant. The binary
// is portable: it takes onelaunch-worker from $ONELAUNCH_WORKER, from beside itself or from where it was built, and
// tests/hostile from the folder it is started in or from where it was built.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/host/worker_process.h"
#include "sandbox/protocol/messages.h"
#include "sandbox/worker/nvrtc.h"
#include "tasks/header.h"

namespace onelaunch::gpu {

// What is launched: a source, and the shape that its OL_LAUNCH declares.
struct Kernel {
  std::string source;
  std::uint64_t block = 256, grid = 1, cluster = 1;
};

// tests/hostile/NAME.cu.
std::string hostile(const std::string& name);

class CudaWorker {
 public:
  // Throws std::runtime_error when something is missing that is no GPU.
  explicit CudaWorker(const std::string& role = "cuda:0");

  sandbox::DeviceFacts facts();
  // Loads the kernel as "candidate" and the harness's own, makes the task's buffers, and puts the weights and a token in.
  sandbox::SetupReply set_up(const Kernel& kernel);
  sandbox::RunReply run(const sandbox::RunJob& job);
  sandbox::TimeReply time(const sandbox::TimeJob& job);
  sandbox::CountReply count(const sandbox::CountJob& job);
  // Of the kernel that was set up.
  sandbox::LaunchOrder order(double seconds_max = 5) const;
  // What set_up() sent.
  const sandbox::SetupJob& last_setup() const { return setup_; }
  // How the process ended, asked after it should have; "alive" when it answers.
  std::string ended();
  pid_t pid() const { return process_->pid(); }

  // y as float64 arithmetic gives it for the inputs of set_up().
  std::vector<double> expected() const;
  static std::vector<double> numbers(const std::string& bf16_bytes);

  static constexpr std::uint64_t kSlackBytes = 1024;  // of sync, scratch and prepared, each

 private:
  std::string call(const std::string& body);
  std::string cubin_of(const std::string& source, const std::string& header);

  SystemClock clock_;
  sandbox::Interrupts interrupts_;
  sandbox::Interrupts::Scope scope_{interrupts_};
  std::unique_ptr<sandbox::WorkerProcess> process_;
  tasks::Task task_;
  worker::Nvrtc nvrtc_;
  std::string target_;
  Kernel kernel_;
  sandbox::SetupJob setup_;
};

// $ONELAUNCH_WORKER and so on.
std::filesystem::path worker_path();

}  // namespace onelaunch::gpu
