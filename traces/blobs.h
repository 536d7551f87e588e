#pragma once
// Content beside the events: blobs/<sha256>, each written once and never changed.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace onelaunch::traces {

inline constexpr std::size_t kBlobBytesMax = std::size_t{256} << 20;

std::filesystem::path blob_path(const std::filesystem::path& run, const std::string& sha256);
// Returns the content's SHA-256. Durable once it returns. read_blob() is in traces/reader.h.
Result<std::string> store_blob(const std::filesystem::path& run, std::string_view content);

}  // namespace onelaunch::traces
