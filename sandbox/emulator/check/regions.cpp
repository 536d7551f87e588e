#include "sandbox/emulator/check/regions.h"

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {
namespace {

constexpr std::uint64_t kWindowMask = 0xffffull << 48;
constexpr std::uint32_t kOffsetMask = (1u << 24) - 1;

}  // namespace

Target Regions::find_shared(const Warp& warp, std::uint64_t address, unsigned bytes) {
  Block* const home = address >> 32 == 0 ? shared_home(*warp.block, static_cast<std::uint32_t>(address)) : nullptr;
  const std::uint32_t offset = static_cast<std::uint32_t>(address) & kOffsetMask;
  if (!home || !home->has_shared() || offset < kSharedStart || offset + bytes > home->shared_end) return {};
  Region& region = regions_[home];
  region.block = home;
  region.defined = &region.own_defined;
  return {&region, offset - kSharedStart, bytes, home->shared + offset};
}

Target Regions::find(const Warp& warp, MemorySpace space, std::uint64_t address, unsigned bytes) {
  if (space == MemorySpace::shared) return find_shared(warp, address, bytes);
  if (space == MemorySpace::generic && (address & kWindowMask) == kSharedWindow) return find_shared(warp, address & ~kWindowMask, bytes);
  if (space == MemorySpace::local || space == MemorySpace::param || (address & kWindowMask) != 0) return {};
  Allocation* const allocation = grid_.memory.find(address);
  if (!allocation || allocation->read_only || address + bytes > allocation->end) return {};
  Region& region = regions_[allocation];
  region.begin = allocation->begin;
  region.defined = allocation->defined.get();
  return {&region, address - allocation->begin, bytes, reinterpret_cast<const std::byte*>(address)};
}

std::string Regions::describe(const Region& region, std::size_t offset) const {
  if (region.block) return "byte " + std::to_string(offset) + " of the shared memory of block " + std::to_string(region.block->index);
  return grid_.memory.describe(region.begin + offset);
}

}  // namespace onelaunch::emu
