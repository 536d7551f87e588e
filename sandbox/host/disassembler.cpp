#include "sandbox/host/disassembler.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/files.h"
#include "sandbox/host/child_program.h"
#include "sandbox/host/sass.h"

namespace onelaunch::sandbox {
namespace {

constexpr double kToolS = 60;
constexpr std::size_t kTextBytesMax = std::size_t{256} << 20, kOutputShown = 300;

std::vector<std::filesystem::path> toolkit_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char* variable : {"CUDAToolkit_ROOT", "CUDA_PATH", "CUDA_HOME"})
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0') folders.push_back(std::filesystem::path(root) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  folders.emplace_back("/opt/cuda/bin");
  return folders;
}

SassReport without(std::string problem) {
  SassReport report;
  report.problem = std::move(problem);
  return report;
}

}  // namespace

Result<Disassembly> disassembly(const std::string& cubin, const Clock& clock, Deadline deadline, const Interrupts::Scope& interrupts) {
  std::string tool = "nvdisasm";
  std::filesystem::path program = find_program(tool, toolkit_folders());
  if (program.empty()) program = find_program(tool = "cuobjdump", toolkit_folders());
  if (program.empty()) return unavailable("neither nvdisasm nor cuobjdump is installed (they come with the CUDA Toolkit)");
  const PassingFolder folder;
  if (folder.path().empty()) return unavailable("cannot make a folder for the disassembler");
  const std::filesystem::path file = folder.path() / "kernel.cubin";
  if (auto written = replace_file(file, cubin); !written) return because(written.error());
  const Deadline limit{std::min(deadline.at, clock.now() + Seconds(kToolS))};
  const std::string how = tool == "nvdisasm" ? "-c" : "-sass";
  auto ended = run_program({program.string(), how, file.string()}, folder, kTextBytesMax, clock, limit, interrupts);
  if (!ended) return because(ended.error());
  if (ended->status != 0)
    return unavailable(tool + " ended with status " + std::to_string(ended->status) + ": " + ended->output.substr(0, kOutputShown));
  return Disassembly{.tool = tool, .text = std::move(ended->output)};
}

SassReport disassemble(const std::string& cubin, const std::string& entry, const Clock& clock, Deadline deadline,
                       const Interrupts::Scope& interrupts) {
  const Result<Disassembly> made = disassembly(cubin, clock, deadline, interrupts);
  if (!made) return without(made.error().message);
  SassReport report = sass_report(made->text, entry);
  report.tool = made->tool;
  return report;
}

}  // namespace onelaunch::sandbox
