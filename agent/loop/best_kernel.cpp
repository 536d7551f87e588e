#include "agent/loop/best_kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/files.h"
#include "base/sha256.h"
#include "base/unique_fd.h"

namespace onelaunch::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKernelBytesMax = 16u << 20;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::size_t skip_space(const std::string& text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

// Where the default stands in an `OL_TUNABLE(name, default` that begins at `at`; length 0 when this is another one.
struct Place {
  std::size_t at = 0, length = 0;
};
Place default_of(const std::string& source, std::size_t at, const std::string& name) {
  std::size_t next = skip_space(source, at + std::strlen("OL_TUNABLE"));
  if (next >= source.size() || source[next] != '(') return {};
  next = skip_space(source, next + 1);
  if (source.compare(next, name.size(), name) != 0) return {};
  next = skip_space(source, next + name.size());
  if (next >= source.size() || source[next] != ',') return {};
  const std::size_t begin = skip_space(source, next + 1);
  std::size_t end = begin;
  while (end < source.size() && (is_word(source[end]) || source[end] == '-' || source[end] == '.')) ++end;
  return {.at = begin, .length = end - begin};
}

Result<void> sync_folder(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return unavailable("cannot sync " + folder.string() + ": " + std::strerror(errno));
  return {};
}

// Swaps two folders in one step. Where the file system cannot, moves one away and the other in.
Result<void> put_in_place(const fs::path& fresh, const fs::path& place) {
  if (::rename(fresh.c_str(), place.c_str()) == 0) return {};  // there was none, or an empty one
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) return {};
  const fs::path old = place.string() + ".old";
  std::error_code ignored;
  fs::remove_all(old, ignored);
  if (::rename(place.c_str(), old.c_str()) != 0 || ::rename(fresh.c_str(), place.c_str()) != 0)
    return unavailable("cannot replace " + place.string() + ": " + std::strerror(errno));
  fs::remove_all(old, ignored);
  return {};
}

Result<void> write_all_files(const fs::path& folder, const BestKernel& best) {
  return replace_file(folder / "kernel.cu", best.source)
      .and_then([&] { return replace_file(folder / "kernel.cubin", best.cubin); })
      .and_then([&] { return replace_file(folder / "card.json", best.card); })
      .and_then([&] { return sync_folder(folder); });
}

}  // namespace

std::string with_defaults(std::string source, const sandbox::TunableValues& values) {
  for (const auto& [name, value] : values) {
    for (std::size_t at = source.find("OL_TUNABLE"); at != std::string::npos; at = source.find("OL_TUNABLE", at + 1)) {
      if (at > 0 && is_word(source[at - 1])) continue;
      const Place place = default_of(source, at, name);
      if (place.length > 0) source.replace(place.at, place.length, value);
    }
  }
  return source;
}

Result<void> replace_best(const fs::path& run, const BestKernel& best) {
  std::string fresh = (run / ".best-XXXXXX").string();
  if (!::mkdtemp(fresh.data()))
    return unavailable("saving the best kernel: cannot write in " + run.string() + ": " + std::strerror(errno));
  ::chmod(fresh.c_str(), 0755);
  Result<void> done = write_all_files(fresh, best);
  if (done) done = put_in_place(fresh, run / "best").and_then([&] { return sync_folder(run); });
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  return done.map_error(doing("saving the best kernel"));
}

Result<fs::path> publish_best(const fs::path& run, const fs::path& folder) {
  const Result<std::string> source = read_file(run / "best" / "kernel.cu", kKernelBytesMax);
  if (!source) return because(source.error(), "publishing the best kernel");
  const Result<std::string> card = read_file(run / "best" / "card.json", kKernelBytesMax);
  if (!card) return because(card.error(), "publishing the best kernel");
  const fs::path place = folder / sha256_hex(*source).substr(0, 12);
  const Result<void> done =
      replace_file(place / "kernel.cu", *source).and_then([&] { return replace_file(place / "card.json", *card); });
  if (!done) return because(done.error(), "publishing the best kernel");
  return place;
}

}  // namespace onelaunch::agent
