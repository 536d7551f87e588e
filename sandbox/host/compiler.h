#pragma once
// The compile worker, kept alive between jobs, behind the cache on disk.

#include <filesystem>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/compile_cache.h"
#include "sandbox/host/interrupts.h"
#include "sandbox/host/worker_process.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

// May be used by several threads; they take turns.
class Compiler {
 public:
  // Starts the worker and hears what it can do. Fails (unavailable) with what is missing on this machine.
  static Result<std::unique_ptr<Compiler>> start(std::filesystem::path worker, std::filesystem::path cache_folder,
                                                 const Clock& clock);

  const std::string& nvrtc_version() const { return hello_.nvrtc_version; }
  const std::string& containment() const { return hello_.containment; }

  struct Done {
    CompileReply reply;   // never unavailable
    bool cached = false;
  };
  // What the compiler did with the source is in the reply, a timeout and a crash too. The wall limit is the job's, or
  // the time left if that is less. Fails for our own reasons and when interrupted.
  Result<Done> compile(CompileJob job, Deadline deadline, const Interrupts::Scope& interrupts);

 private:
  Compiler(std::filesystem::path worker, std::filesystem::path cache_folder, const Clock& clock);
  Result<void> respawn(const Interrupts::Scope& interrupts);
  Result<CompileReply> ask_worker(const CompileJob& job, const Interrupts::Scope& interrupts);

  std::mutex mutex_;
  std::filesystem::path worker_path_;
  CompileCache cache_;
  const Clock& clock_;
  CompilerHello hello_;
  std::unique_ptr<WorkerProcess> worker_;
};

}  // namespace onelaunch::sandbox
