#pragma once
// Files that belong together, as a folder or as one .tar.gz.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace onelaunch::exporting {

// Content by relative path.
using Files = std::map<std::string, std::string>;

Result<void> write_folder(const Files& files, const std::filesystem::path& folder);
// Each file below `root`/. The same files give the same bytes. Fails (internal) when a path is too long for the format.
Result<std::string> tar_gz(const Files& files, const std::string& root);
// A zlib stream (RFC 1950).
Result<std::string> deflated(std::string_view content);

}  // namespace onelaunch::exporting
