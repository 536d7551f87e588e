#include "sandbox/host/compile_cache.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/sha256.h"

namespace onelaunch::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntryBytesMax = 256u << 20;
constexpr std::size_t kDigestBytes = 64;
constexpr const char* kFormat = "onelaunch compile cache 1";

void add_part(std::string& text, const std::string& part) { text += std::to_string(part.size()) + ":" + part + "\n"; }

}  // namespace

fs::path default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return fs::path(cache) / "onelaunch";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return fs::path(home) / ".cache/onelaunch";
  std::error_code ignored;
  return fs::temp_directory_path(ignored) / "onelaunch-cache";
}

CompileCache::CompileCache(fs::path folder) : folder_(std::move(folder) / "compiled") {}

std::string CompileCache::key(const CompileJob& job, const std::string& nvrtc_version) {
  std::string text;
  add_part(text, kFormat);
  add_part(text, nvrtc_version);
  add_part(text, job.source);
  add_part(text, job.header);
  for (const std::string& option : job.options) add_part(text, option);
  return sha256_hex(text);
}

fs::path CompileCache::path_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key; }

// An entry is the digest of the encoded reply, then the encoded reply.
std::optional<CompileReply> CompileCache::find(const std::string& key) const {
  const auto content = read_file(path_of(key), kEntryBytesMax);
  if (!content || content->size() < kDigestBytes) return std::nullopt;
  const std::string body = content->substr(kDigestBytes);
  if (sha256_hex(key + body) != content->substr(0, kDigestBytes)) return std::nullopt;
  auto reply = decode_compile_reply(body);
  if (!reply) return std::nullopt;
  return std::move(*reply);
}

Result<void> CompileCache::store(const std::string& key, const CompileReply& reply) const {
  if (reply.status != CompileReply::Status::compiled && reply.status != CompileReply::Status::failed) return {};
  const std::string body = encode(reply);
  auto done = replace_file(path_of(key), sha256_hex(key + body) + body);
  if (!done) return because(done.error(), "keeping a compilation for later");
  drop_oldest();
  return {};
}

void CompileCache::drop_oldest() const {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored)) entries.emplace_back(it->last_write_time(ignored), it->path());
  if (entries.size() <= kEntriesMax) return;
  std::ranges::sort(entries);
  for (std::size_t i = 0; i < kEntriesMax / 10; ++i) fs::remove(entries[i].second, error);
}

}  // namespace onelaunch::sandbox
