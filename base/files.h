#pragma once
// Whole files: read with a limit, replaced atomically.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace onelaunch {

// Fails (invalid_input) when the file is missing, unreadable or larger than bytes_max.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max);

// Written to a temporary file in the same folder, synced, then renamed over path: a reader sees the old or the new
// content, never a part. Creates missing parent folders. Fails (unavailable) when the disk refuses.
Result<void> replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace onelaunch
