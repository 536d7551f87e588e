#pragma once
// Another program of this machine, run to its end with a limit.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/host/interrupts.h"

namespace onelaunch::sandbox {

// A folder for files that pass between us; goes away with this. `path` is empty when it could not be made.
class PassingFolder {
 public:
  explicit PassingFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~PassingFolder();
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProgramEnd {
  int status = 0;                         // 128 + signal when one ended it
  std::string output;                     // what it printed, standard error included
};

// `arguments`: the program first, looked for in PATH; it writes to a file in `folder`. Fails (unavailable) when it cannot
// be started, takes too long, prints more than output_bytes_max, or we are interrupted.
Result<ProgramEnd> run_program(const std::vector<std::string>& arguments, const PassingFolder& folder, std::size_t output_bytes_max,
                               const Clock& clock, Deadline deadline, const Interrupts::Scope& interrupts);

// Where a program lies: in PATH, else in one of `folders`. Empty: nowhere.
std::filesystem::path find_program(const std::string& name, const std::vector<std::filesystem::path>& folders);

}  // namespace onelaunch::sandbox
