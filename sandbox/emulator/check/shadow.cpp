#include "sandbox/emulator/check/shadow.h"

#include <algorithm>

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
  if (defined_.size() < offset + bytes) defined_.resize(std::max(offset + bytes, defined_.size() * 2), false);
  std::fill(defined_.begin() + static_cast<std::ptrdiff_t>(offset), defined_.begin() + static_cast<std::ptrdiff_t>(offset + bytes), true);
}

std::size_t DefinedBytes::first_undefined(std::size_t offset, std::size_t bytes) const {
  std::size_t at = offset;
  while (at < offset + bytes && at < defined_.size() && defined_[at]) ++at;
  return at;
}

}  // namespace onelaunch::emu
