#pragma once
// Device memory: allocations inside one reserved range at a fixed base, so that device addresses are host addresses
// and the same in every run. Bounds are exact to the byte.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/emulator/model/counters.h"

namespace onelaunch::emu {

constexpr std::uint64_t kArenaBase = 0x2000'0000'0000ull;
constexpr std::uint64_t kArenaBytes = 1ull << 40;
constexpr std::uint64_t kChunkBytes = 1u << 16;  // allocations start on chunks; an unmapped chunk follows each

class DefinedBytes;

struct Allocation {
  std::string name;
  std::uint64_t begin = 0, end = 0;
  bool read_only = false;
  std::shared_ptr<DefinedBytes> defined;  // null: every byte (check/)
  std::vector<PageUse> pages;  // by (address - begin) / kPageBytes; reset at every launch

  void forget_use();
};

struct Memory {
  static Result<std::unique_ptr<Memory>> reserve();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Result<std::uint64_t> allocate(const std::string& name, std::size_t bytes, bool read_only);  // zero filled
  Result<std::uint64_t> map(const std::string& name, std::size_t bytes, int fd, std::uint64_t offset);  // read-only
  void free(std::uint64_t begin);

  Allocation* find(std::uint64_t address) const;          // the allocation that holds this byte, or null
  const Allocation* nearest(std::uint64_t address) const; // the one that ends or begins closest, for reports
  // "weights kda.0.q.packed + 0x40 (size 0x1000)"
  std::string describe(std::uint64_t address) const;
  void forget_use();

 private:
  Memory(std::uint64_t base) : base_(base) {}
  std::uint64_t take_range(std::size_t span);
  std::uint64_t add(const std::string& name, std::uint64_t begin, std::size_t bytes, bool read_only);

  std::uint64_t base_;
  std::uint64_t next_ = 0;                                 // first chunk never used, as an offset
  std::map<std::uint64_t, std::unique_ptr<Allocation>> allocations_;
  std::multimap<std::size_t, std::uint64_t> free_ranges_;  // span -> begin, reused only at the same size
  std::vector<Allocation*> by_chunk_;
};

}  // namespace onelaunch::emu
