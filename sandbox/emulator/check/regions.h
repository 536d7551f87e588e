#pragma once
// Which memory the detectors watch: allocations that a kernel may change, and the shared memory of blocks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "sandbox/emulator/check/shadow.h"
#include "sandbox/emulator/memory/form.h"

namespace onelaunch::emu {

struct Allocation;
struct Block;
struct Grid;
struct Warp;

struct Region {
  Shadow shadow;
  DefinedBytes* defined = nullptr;   // null: all of it
  DefinedBytes own_defined;          // of shared memory
  const Block* block = nullptr;      // of shared memory, else an allocation:
  std::uint64_t begin = 0;
};

struct Target {
  Region* region = nullptr;          // null: not watched, or a wrong address, which others report
  std::size_t offset = 0;
  unsigned bytes = 0;
  const std::byte* data = nullptr;
};

class Regions {
 public:
  explicit Regions(Grid& grid) : grid_(grid) {}
  Target find(const Warp& warp, MemorySpace space, std::uint64_t address, unsigned bytes);
  std::string describe(const Region& region, std::size_t offset) const;

 private:
  Target find_shared(const Warp& warp, std::uint64_t address, unsigned bytes);

  Grid& grid_;
  std::unordered_map<const void*, Region> regions_;
};

}  // namespace onelaunch::emu
