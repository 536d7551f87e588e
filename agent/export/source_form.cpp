#include "agent/export/formats.h"
#include "base/sha256.h"
#include "sandbox/host/tunables.h"
#include "tasks/header.h"

namespace onelaunch::exporting {
namespace {

// The harness passes tunables as -D; on their own, those that are not passed take these values.
std::string header_with_tunables(const Subject& subject, const sandbox::TunableValues& tunables) {
  std::string text = tasks::candidate_header(subject.task);
  std::string defines;
  for (const auto& [name, value] : tunables)
    defines += "#ifndef " + name + "\n#define " + name + " " + value + "\n#endif\n";
  if (defines.empty()) return text;
  const std::string once = "#pragma once\n";
  const std::size_t at = text.find(once);
  text.insert(at == std::string::npos ? 0 : at + once.size(), "\n// Tunables; -DNAME=value on the command line wins.\n" + defines);
  return text;
}

std::string readme(const Subject& subject) {
  std::string text = "# The megakernel of " + subject.task.name + ", as source\n\n" + "kernel.cu decodes one token in one cooperative launch. onelaunch.cuh declares its arguments (`ol::Args`: each\n"
         "pointer with its shape), the dims of the task (variant " + subject.task.variant + ") and what the kernel asks of its launcher\n"
         "(`OL_LAUNCH`, `OL_PREPARE`). Compile it without anything else of the harness:\n\n"
         "    nvcc -std=c++20 --expt-relaxed-constexpr -arch=" + subject.target + " -I. -cubin kernel.cu -o kernel.cubin\n\n"
         "(NVRTC takes --device-as-default-execution-space instead of --expt-relaxed-constexpr, and CUDA's include folder.)\n\n"
         "Launching: prepare kernels once a weight set, in the order of their lines; then one cooperative launch of\n"
         "`megakernel` a token, with `epoch` 0, 1, 2, ... and `sync` all zero before the first. The other forms\n"
         "(`onelaunch export --format cubin` and `torch`) do that.\n\n"
         "SHA-256 of kernel.cu: " + sha256_hex(subject.source) + "\n";
  return text;
}

}  // namespace

Result<Files> source_files(const Subject& subject) {
  const auto declared = sandbox::scan_tunables(subject.source);
  if (!declared) return because(declared.error());
  const auto tunables = sandbox::choose_values(*declared, subject.tunables);
  if (!tunables) return because(tunables.error());
  Files files = {{"kernel.cu", subject.source},
                 {"onelaunch.cuh", header_with_tunables(subject, *tunables)},
                 {"README.md", readme(subject)}};
  if (!subject.card.empty()) files["card.json"] = subject.card;
  return files;
}

}  // namespace onelaunch::exporting
