#include "sandbox/emulator/check/shadow.h"

#include <algorithm>
#include <cstring>

namespace onelaunch::emu {

Shadow::Page& Shadow::page_of(std::size_t number) {
  if (number >= pages_.size()) pages_.resize(std::max(number + 1, pages_.size() * 2));
  if (!pages_[number]) pages_[number] = std::make_unique<Page>();
  return *pages_[number];
}

void Shadow::split(Page& page) {
  std::vector<Cell> bytes;
  bytes.reserve(kPageBytes);
  for (const Cell& cell : page.cells) bytes.insert(bytes.end(), 4, cell);
  page.cells = std::move(bytes);
  page.unit = 1;
}

void DefinedBytes::define(std::size_t offset, std::size_t bytes) {
  if (defined_.size() < offset + bytes) defined_.resize(std::max(offset + bytes, defined_.size() * 2), 0);
  std::memset(defined_.data() + offset, 1, bytes);
}

std::size_t DefinedBytes::first_undefined(std::size_t offset, std::size_t bytes) const {
  if (offset >= defined_.size()) return offset;
  const std::size_t known = std::min(bytes, defined_.size() - offset);
  const void* const found = std::memchr(defined_.data() + offset, 0, known);
  return found ? static_cast<std::size_t>(static_cast<const unsigned char*>(found) - defined_.data()) : offset + known;
}

}  // namespace onelaunch::emu
