#pragma once
// SHA-256 as 64 lower-case hex digits: names of blobs, links of the trace's hash chain, ids of kernels.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace onelaunch {

std::string sha256_hex(std::string_view text);
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace onelaunch
