#pragma once
// One onelaunch-worker process: spawned, spoken to with deadlines, killed and reaped. How it ended is data.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/interrupts.h"
#include "sandbox/protocol/frame.h"
#include "sandbox/protocol/outcome.h"

namespace onelaunch::sandbox {

// $ONELAUNCH_WORKER, else onelaunch-worker beside the running executable.
std::filesystem::path find_worker();

struct Interrupted {};
// A reply's body, or how the worker failed to give one; it is dead then.
using Answer = std::variant<std::string, TimedOut, Crashed, Interrupted>;

class WorkerProcess {
 public:
  struct Options {
    std::filesystem::path executable;
    std::string role;                    // "compile", "emu", "cuda:0"
    std::size_t frame_bytes_max = kFrameBytesMax;
  };
  // Fails (unavailable) when the executable is missing or cannot be started.
  static Result<std::unique_ptr<WorkerProcess>> spawn(const Options& options, const Clock& clock);
  ~WorkerProcess();                      // kills and reaps
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool alive() const { return pid_ > 0; }

  // Waits for a message that the worker sends unasked (nonce 0).
  Answer listen(Deadline deadline, const Interrupts::Scope& interrupts, const std::string& doing);
  // One request, one reply. `doing` names the work in a TimedOut.
  Answer call(std::string_view request, int passed_fd, Deadline deadline, const Interrupts::Scope& interrupts,
              const std::string& doing);
  // The same in two steps, so that the host can work meanwhile. Returns the nonce that receive() wants.
  std::variant<std::uint64_t, TimedOut, Crashed, Interrupted> send(std::string_view request, int passed_fd,
                                                                   Deadline deadline,
                                                                   const Interrupts::Scope& interrupts,
                                                                   const std::string& doing);
  Answer receive(std::uint64_t nonce, Deadline deadline, const Interrupts::Scope& interrupts, const std::string& doing);

 private:
  WorkerProcess(pid_t pid, UniqueFd socket, std::size_t frame_bytes_max, const Clock& clock);
  std::variant<TimedOut, Crashed, Interrupted> lost(const ChannelEnd& end, Seconds start, const std::string& doing);
  std::string end();                     // kills if need be, reaps, says how it ended

  pid_t pid_;
  FrameChannel channel_;
  const Clock& clock_;
  std::uint64_t next_nonce_;
};

}  // namespace onelaunch::sandbox
