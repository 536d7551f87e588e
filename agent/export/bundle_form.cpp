#include "agent/export/formats.h"
#include "base/files.h"

namespace onelaunch::exporting {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kFileBytesMax = std::size_t{256} << 20;
constexpr std::size_t kEventsBytesMax = std::size_t{1} << 30;

void add_all(Files& files, const std::string& folder, Files more) {
  for (auto& [path, content] : more) files[folder + "/" + path] = std::move(content);
}

Result<void> add_file(Files& files, const fs::path& file, const std::string& name, std::size_t bytes_max) {
  Result<std::string> content = read_file(file, bytes_max);
  if (!content) return because(content.error());
  files[name] = std::move(*content);
  return {};
}

// Sources, replies and long outputs, each by its hash.
Result<void> add_blobs(Files& files, const fs::path& run) {
  std::error_code error;
  for (fs::directory_iterator at(run / "blobs", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.size() != 64 || !at->is_regular_file(error)) continue;  // being written, or not ours
    const Result<void> added = add_file(files, at->path(), "run/blobs/" + name, kFileBytesMax);
    if (!added) return because(added.error());
  }
  return {};
}

}  // namespace

Result<Files> bundle_files(const Subject& subject, const BuiltKernel& kernel) {
  Files files;
  Result<Files> source = source_files(subject);
  if (!source) return because(source.error());
  add_all(files, "source", std::move(*source));
  add_all(files, "binary", cubin_files(subject, kernel));
  if (!subject.card.empty()) files["card.json"] = subject.card;
  if (const Result<std::string> solution = torch_solution(subject, kernel)) files["solution.py"] = *solution;
  if (!subject.run.empty()) {
    Result<void> added = add_file(files, subject.run / "events.jsonl", "run/events.jsonl", kEventsBytesMax).and_then([&] {
      return add_blobs(files, subject.run);
    });
    if (!added) return because(added.error(), "the run's record");
  }
  std::string readme = "# A kernel with all that is known of it\n\n"
      "source/       kernel.cu and the header that it includes: compiles alone\n"
      "binary/       kernel.cubin for " + subject.target + " with a C launcher\n";
  if (files.contains("solution.py")) readme += "solution.py   the same kernel for PyTorch\n";
  if (files.contains("card.json")) readme += "card.json     what was measured, and where\n";
  if (!subject.run.empty()) readme += "run/          the session that made it: `onelaunch replay run`, `onelaunch trace verify run`\n";
  files["README.md"] = readme;
  return files;
}

}  // namespace onelaunch::exporting
