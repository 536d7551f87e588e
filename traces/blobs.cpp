#include "traces/blobs.h"

#include <fcntl.h>

#include "base/files.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "traces/reader.h"

namespace onelaunch::traces {

std::filesystem::path blob_path(const std::filesystem::path& run, const std::string& sha256) {
  return run / "blobs" / sha256;
}

Result<std::string> store_blob(const std::filesystem::path& run, std::string_view content) {
  if (content.size() > kBlobBytesMax)
    return invalid("a blob of " + std::to_string(content.size()) + " bytes; at most " +
                   std::to_string(kBlobBytesMax));
  const std::string sha256 = sha256_hex(content);
  if (read_blob(run, sha256)) return sha256;
  const std::filesystem::path path = blob_path(run, sha256);
  if (const Result<void> written = replace_file(path, content); !written) return because(written.error());
  // The name must survive a power cut as well: an event that refers to it follows.
  const UniqueFd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0) return unavailable("cannot sync " + path.parent_path().string());
  return sha256;
}

Result<std::string> read_blob(const std::filesystem::path& run, const std::string& sha256) {
  if (sha256.size() != 64 || sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
    return invalid("not a SHA-256: \"" + sha256 + "\"");
  Result<std::string> content = read_file(blob_path(run, sha256), kBlobBytesMax);
  if (!content) return content;
  if (sha256_hex(*content) != sha256) return invalid("blob " + sha256 + " was changed: its content has another hash");
  return content;
}

}  // namespace onelaunch::traces
