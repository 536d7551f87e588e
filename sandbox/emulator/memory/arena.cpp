#include "sandbox/emulator/memory/arena.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace onelaunch::emu {
namespace {

std::size_t span_of(std::size_t bytes) { return (bytes + kChunkBytes - 1) / kChunkBytes * kChunkBytes + kChunkBytes; }

void* at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

std::string system_error(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

}  // namespace

void Allocation::forget_use() { std::fill(pages.begin(), pages.end(), PageUse{}); }

Result<std::unique_ptr<Memory>> Memory::reserve() {
  // A second device in the same process gets the next terabyte.
  for (std::uint64_t base = kArenaBase; base < kArenaBase + 16 * kArenaBytes; base += kArenaBytes) {
    void* const got = mmap(at(base), kArenaBytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == at(base)) return std::unique_ptr<Memory>(new Memory(base));
    if (got != MAP_FAILED) munmap(got, kArenaBytes);
  }
  return fail(Error::Kind::unavailable, system_error("reserving a terabyte of addresses for the emulated device"));
}

Memory::~Memory() { munmap(at(base_), kArenaBytes); }

std::uint64_t Memory::take_range(std::size_t span) {
  if (const auto found = free_ranges_.find(span); found != free_ranges_.end()) {
    const std::uint64_t begin = found->second;
    free_ranges_.erase(found);
    return begin;
  }
  if (next_ + kChunkBytes + span > kArenaBytes) return 0;
  const std::uint64_t begin = base_ + kChunkBytes + next_;
  next_ += span;
  return begin;
}

std::uint64_t Memory::add(const std::string& name, std::uint64_t begin, std::size_t bytes, bool read_only) {
  auto allocation = std::make_unique<Allocation>();
  allocation->name = name;
  allocation->begin = begin;
  allocation->end = begin + bytes;
  allocation->read_only = read_only;
  allocation->pages.resize(bytes / kPageBytes + 1);
  const std::size_t first = (begin - base_) / kChunkBytes;
  const std::size_t last = first + span_of(bytes) / kChunkBytes;
  if (by_chunk_.size() < last) by_chunk_.resize(last, nullptr);
  for (std::size_t chunk = first; chunk + 1 < last; ++chunk) by_chunk_[chunk] = allocation.get();
  allocations_[begin] = std::move(allocation);
  return begin;
}

Result<std::uint64_t> Memory::allocate(const std::string& name, std::size_t bytes, bool read_only) {
  const std::size_t span = span_of(bytes);
  const std::uint64_t begin = bytes < kArenaBytes ? take_range(span) : 0;
  if (begin == 0) return unavailable("the emulated device has no room for " + name + " of " + std::to_string(bytes) + " bytes");
  if (bytes > 0 && mmap(at(begin), span - kChunkBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    return unavailable(system_error(("allocating " + name).c_str()));
  }
  return add(name, begin, bytes, read_only);
}

Result<std::uint64_t> Memory::map(const std::string& name, std::size_t bytes, int fd, std::uint64_t offset) {
  // Not fstat(): the worker allows few system calls, and newer C libraries make it one that takes paths.
  const off_t file_bytes = lseek(fd, 0, SEEK_END);
  if (file_bytes < 0) return fail(Error::Kind::internal, system_error(("mapping " + name).c_str()));
  if (offset % kPageBytes != 0) return invalid("mapping " + name + ": offset " + std::to_string(offset) + " is not page-aligned");
  if (offset + bytes > static_cast<std::uint64_t>(file_bytes)) {
    return invalid("mapping " + name + ": bytes [" + std::to_string(offset) + ", " + std::to_string(offset + bytes) +
                   ") lie outside the file of " + std::to_string(file_bytes) + " bytes");
  }
  const std::uint64_t begin = bytes < kArenaBytes ? take_range(span_of(bytes)) : 0;
  if (begin == 0) return unavailable("the emulated device has no room for " + name);
  // Private: before Linux 6.7 a write-sealed file cannot be mapped shared, not even for reading.
  if (bytes > 0 && mmap(at(begin), bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, static_cast<off_t>(offset)) == MAP_FAILED) {
    return unavailable(system_error(("mapping " + name).c_str()));
  }
  return add(name, begin, bytes, true);
}

void Memory::free(std::uint64_t begin) {
  const auto found = allocations_.find(begin);
  OL_CHECK(found != allocations_.end(), "freeing what was not allocated");
  const std::size_t span = span_of(found->second->end - begin);
  mmap(at(begin), span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  const std::size_t first = (begin - base_) / kChunkBytes;
  for (std::size_t chunk = first; chunk < first + span / kChunkBytes; ++chunk) by_chunk_[chunk] = nullptr;
  free_ranges_.emplace(span, begin);
  allocations_.erase(found);
}

Allocation* Memory::find(std::uint64_t address) const {
  const std::uint64_t chunk = (address - base_) / kChunkBytes;
  if (address < base_ || chunk >= by_chunk_.size()) return nullptr;
  Allocation* const allocation = by_chunk_[chunk];
  return allocation && address < allocation->end ? allocation : nullptr;
}

const Allocation* Memory::nearest(std::uint64_t address) const {
  const auto after = allocations_.upper_bound(address);
  const Allocation* best = after == allocations_.end() ? nullptr : after->second.get();
  if (after != allocations_.begin()) {
    const Allocation* const before = std::prev(after)->second.get();
    const bool closer = !best || address - before->end <= best->begin - address;
    if (address < before->end || closer) best = before;
  }
  return best;
}

std::string Memory::describe(std::uint64_t address) const {
  char text[96];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  std::string described = text;
  const Allocation* const near = nearest(address);
  if (!near) return described;
  const std::int64_t offset = static_cast<std::int64_t>(address - near->begin);
  const std::int64_t far = std::int64_t{1} << 30;
  if (offset < -far || offset > static_cast<std::int64_t>(near->end - near->begin) + far) return described + ", far from any allocation";
  std::snprintf(text, sizeof text, " %c 0x%llx (size 0x%llx)", offset < 0 ? '-' : '+',
                static_cast<unsigned long long>(offset < 0 ? -offset : offset),
                static_cast<unsigned long long>(near->end - near->begin));
  return near->name + text;
}

void Memory::forget_use() {
  for (auto& [begin, allocation] : allocations_) allocation->forget_use();
}

}  // namespace onelaunch::emu
