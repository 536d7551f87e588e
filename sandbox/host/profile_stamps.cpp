#include "sandbox/host/profile_stamps.h"

#include <algorithm>
#include <cstring>

namespace onelaunch::sandbox {
namespace {

constexpr std::uint64_t kCapacityMax = 4096, kBufferBytesMax = 64 << 20;
constexpr std::size_t kNameBytes = 48;

template <class T>
T word_at(std::string_view bytes, std::size_t offset) {
  T word{};
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

}  // namespace

std::uint64_t stamp_capacity(std::uint64_t blocks) {
  return std::clamp<std::uint64_t>(kBufferBytesMax / kStampBytes / std::max<std::uint64_t>(blocks, 1), 1, kCapacityMax);
}

std::uint64_t stamp_buffer_bytes(std::uint64_t blocks) {
  return blocks * (kStampBlockBytes + stamp_capacity(blocks) * kStampBytes);
}

std::vector<std::uint64_t> stamps_made(std::string_view head, std::uint64_t blocks, std::uint32_t launch) {
  std::vector<std::uint64_t> made(blocks);
  for (std::uint64_t b = 0; b < blocks && (b + 1) * kStampBlockBytes <= head.size(); ++b)
    if (word_at<std::uint64_t>(head, b * kStampBlockBytes + 8) == launch) made[b] = word_at<std::uint64_t>(head, b * kStampBlockBytes);
  return made;
}

Result<std::vector<Stamp>> parse_stamps(std::string_view bytes) {
  std::vector<Stamp> stamps;
  for (std::size_t at = 0; at + kStampBytes <= bytes.size(); at += kStampBytes) {
    Stamp& stamp = stamps.emplace_back();
    const auto kind = word_at<std::uint32_t>(bytes, at + 8);
    if (kind < 1 || kind > 4) return fail(Error::Kind::worker_lost, "a stamp of no known kind: the kernel wrote over the profile");
    stamp.kind = static_cast<Stamp::Kind>(kind);
    stamp.ns = word_at<std::uint64_t>(bytes, at);
    stamp.sm = static_cast<int>(word_at<std::uint32_t>(bytes, at + 12));
    if (stamp.kind != Stamp::Kind::phase) continue;
    const std::string_view name = bytes.substr(at + 16, kNameBytes);
    stamp.name = std::string(name.substr(0, name.find('\0')));
  }
  return stamps;
}

}  // namespace onelaunch::sandbox
