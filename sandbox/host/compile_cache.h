#pragma once
// Finished compilations on disk, by what went in. One file each, replaced atomically; a damaged one counts as missing.

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/protocol/messages.h"

namespace onelaunch::sandbox {

// $XDG_CACHE_HOME/onelaunch, else ~/.cache/onelaunch, else a folder below the temporary one.
std::filesystem::path default_cache_folder();

class CompileCache {
 public:
  // Made when first written to.
  explicit CompileCache(std::filesystem::path folder);

  // Names a compilation: its source, header and options, the compiler's version, and this file format.
  static std::string key(const CompileJob& job, const std::string& nvrtc_version);

  std::optional<CompileReply> find(const std::string& key) const;
  // Keeps results that will not change: compiled or failed. Fails (unavailable) when the disk refuses; the caller may
  // go on without. The oldest entries go when there are more than kEntriesMax.
  Result<void> store(const std::string& key, const CompileReply& reply) const;

  static constexpr std::size_t kEntriesMax = 4000;

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void drop_oldest() const;
  std::filesystem::path folder_;
};

}  // namespace onelaunch::sandbox
