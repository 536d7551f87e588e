#include "sandbox/emulator/memory/access.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"

namespace onelaunch::emu {
namespace {

constexpr std::uint64_t kWindowMask = 0xffffull << 48;
constexpr std::uint64_t kOffsetMask = (1u << 24) - 1;

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// What is asked for: `alignment` is that of the address.
struct Asked {
  unsigned bytes, alignment, lane;
  Access access;
};

Place refuse(Warp& warp, const DecodedOp& op, Fault::Kind kind, const Asked& asked, const std::string& what) {
  FaultLog& faults = warp.grid->faults;
  if (!faults.is_new(kind, op.site)) return {};
  faults.add(kind, op.site,
             faults.place(op.site) + ": " + what + ", " + std::to_string(asked.bytes) + " bytes; block " +
                 std::to_string(warp.block->index) + " warp " + std::to_string(warp.index) + " lane " + std::to_string(asked.lane));
  return {};
}

Place place_in_shared(Warp& warp, const DecodedOp& op, std::uint64_t address, const Asked& asked) {
  const std::uint64_t offset = address & kOffsetMask;
  Block* const home = address >> 32 == 0 ? shared_home(*warp.block, static_cast<std::uint32_t>(address)) : nullptr;
  if (!home) return refuse(warp, op, Fault::Kind::wrong_space, asked, hex(address) + " is not a shared address");
  if (!home->has_shared()) {
    return refuse(warp, op, Fault::Kind::wrong_space, asked,
                  "shared memory of block " + std::to_string(home->index) + ", which has ended: a cluster barrier must keep it alive");
  }
  if (offset % asked.alignment) return refuse(warp, op, Fault::Kind::misaligned, asked, "misaligned shared address " + hex(offset));
  if (offset < kSharedStart || offset + asked.bytes > home->shared_end) {
    return refuse(warp, op, Fault::Kind::out_of_bounds, asked,
                  "shared memory byte " + std::to_string(static_cast<std::int64_t>(offset) - kSharedStart) +
                      " is outside the block's " + std::to_string(home->shared_end - kSharedStart) + " bytes");
  }
  return {home->shared + offset, 4, MemorySpace::shared, nullptr, home};
}

Place place_in_local(Warp& warp, const DecodedOp& op, std::uint64_t offset, const Asked& asked) {
  if (offset % asked.alignment) return refuse(warp, op, Fault::Kind::misaligned, asked, "misaligned local address " + hex(offset));
  if (offset + asked.bytes > warp.grid->program.local_bytes || offset + asked.bytes < offset) {
    return refuse(warp, op, Fault::Kind::out_of_bounds, asked,
                  "local memory byte " + std::to_string(static_cast<std::int64_t>(offset)) + " is outside the thread's " +
                      std::to_string(warp.grid->program.local_bytes) + " bytes");
  }
  return {warp.local + (offset / 4) * 128 + asked.lane * 4 + offset % 4, 128, MemorySpace::local, nullptr, nullptr};
}

Place place_in_params(Warp& warp, const DecodedOp& op, std::uint64_t offset, const Asked& asked) {
  const std::span<const std::byte> params = warp.grid->params;
  if (asked.access == Access::write) {
    return refuse(warp, op, Fault::Kind::read_only_write, asked, "the kernel's parameters are read-only");
  }
  if (offset % asked.alignment) return refuse(warp, op, Fault::Kind::misaligned, asked, "misaligned parameter offset " + hex(offset));
  if (offset + asked.bytes > params.size() || offset + asked.bytes < offset) {
    return refuse(warp, op, Fault::Kind::out_of_bounds, asked,
                  "parameter byte " + std::to_string(offset) + " is outside the " + std::to_string(params.size()) + " given");
  }
  return {const_cast<std::byte*>(params.data()) + offset, 4, MemorySpace::param, nullptr, nullptr};
}

Place place_in_global(Warp& warp, const DecodedOp& op, std::uint64_t address, const Asked& asked) {
  Grid& grid = *warp.grid;
  if (address & kWindowMask) {
    const char* const window = address >> 48 == kSharedWindow >> 48 ? " is a shared address" : " is not a global address";
    return refuse(warp, op, Fault::Kind::wrong_space, asked, hex(address) + window);
  }
  Allocation* const allocation = grid.memory.find(address);
  if (!allocation || address + asked.bytes > allocation->end) {
    return refuse(warp, op, Fault::Kind::out_of_bounds, asked, "out of bounds at " + grid.memory.describe(address));
  }
  if (address % asked.alignment) return refuse(warp, op, Fault::Kind::misaligned, asked, "misaligned address in " + grid.memory.describe(address));
  if (asked.access == Access::write && allocation->read_only) {
    return refuse(warp, op, Fault::Kind::read_only_write, asked, "write to read-only " + grid.memory.describe(address));
  }
  return {reinterpret_cast<std::byte*>(address), 4, MemorySpace::global, allocation, nullptr};
}

// Registers of element j of a load or store.
std::uint32_t element_register(const Warp& warp, const DecodedOp& op, unsigned count, unsigned j, std::uint32_t single) {
  return count == 1 ? single : warp.operands[op.list + j];
}

void put_element(Warp& warp, std::uint32_t reg, AccessForm form, unsigned lane, const std::byte* raw) {
  if (reg == kNoOperand) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, raw, form.element_bytes());
  if (form.sign_extend) {
    const unsigned unused = 64 - 8 * form.element_bytes();
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
  if (form.wide_register) warp.row_to_write<std::uint64_t>(reg)[lane] = bits;
  else warp.row_to_write<std::uint32_t>(reg)[lane] = static_cast<std::uint32_t>(bits);
}

void put_loaded(Warp& warp, const DecodedOp& op, AccessForm form, unsigned lane, const std::byte* raw) {
  for (unsigned j = 0; j < form.count; ++j) {
    put_element(warp, element_register(warp, op, form.count, j, op.dst), form, lane, raw + j * form.element_bytes());
  }
}

void add_wait(Warp& warp, const OpCache& cache, unsigned missed) {
  if (!cache.rounds) return;
  const ChainCosts& chain = warp.grid->chain;
  warp.chain_cycles += missed ? chain.dram_cycles : chain.l2_cycles;
}

}  // namespace

std::uint64_t lane_address(const Warp& warp, const DecodedOp& op, AccessForm form, unsigned lane) {
  if (form.wide_address) return warp.row<std::uint64_t>(op.a)[lane] + op.imm;
  return static_cast<std::uint32_t>(warp.row<std::uint32_t>(op.a)[lane] + op.imm);
}

Place place_of_run(Warp& warp, const DecodedOp& op, MemorySpace space, std::uint64_t address, unsigned bytes,
                   unsigned alignment, unsigned lane, Access access) {
  const Asked asked{bytes, alignment, lane, access};
  if (space == MemorySpace::generic) {
    switch (address & kWindowMask) {
      case kSharedWindow: return place_in_shared(warp, op, address & ~kWindowMask, asked);
      case kLocalWindow: return place_in_local(warp, op, address & ~kWindowMask, asked);
      case kParamWindow: return place_in_params(warp, op, address & ~kWindowMask, asked);
      default: return place_in_global(warp, op, address, asked);
    }
  }
  switch (space) {
    case MemorySpace::shared: return place_in_shared(warp, op, address, asked);
    case MemorySpace::local: return place_in_local(warp, op, address, asked);
    case MemorySpace::param: return place_in_params(warp, op, address, asked);
    default: return place_in_global(warp, op, address, asked);
  }
}

Place place_of(Warp& warp, const DecodedOp& op, MemorySpace space, std::uint64_t address, unsigned bytes, unsigned lane,
               Access access) {
  return place_of_run(warp, op, space, address, bytes, bytes, lane, access);
}

void copy_in(const Place& from, void* to, unsigned bytes) {
  if (from.word_stride == 4 || bytes <= 4) return void(std::memcpy(to, from.data, bytes));
  for (unsigned word = 0; word < bytes / 4; ++word) {
    std::memcpy(static_cast<std::byte*>(to) + 4 * word, from.data + word * from.word_stride, 4);
  }
}

void copy_out(const Place& to, const void* from, unsigned bytes) {
  if (to.word_stride == 4 || bytes <= 4) return void(std::memcpy(to.data, from, bytes));
  for (unsigned word = 0; word < bytes / 4; ++word) {
    std::memcpy(to.data + word * to.word_stride, static_cast<const std::byte*>(from) + 4 * word, 4);
  }
}

void refill(Grid& grid, OpCache& cache, std::uint64_t address, Access access) {
  Allocation* const found = grid.memory.find(address);
  const bool usable = found && !(access == Access::write && found->read_only);
  cache.begin = usable ? found->begin : 1;
  cache.end = usable ? found->end : 0;
  cache.allocation = usable ? found : nullptr;
}

unsigned touch(Warp& warp, Allocation& allocation, std::uint64_t address, unsigned bytes, Access access) {
  L2Clock& clock = warp.grid->l2;
  const std::uint64_t first = (address - allocation.begin) / kSectorBytes;
  const std::uint64_t last = (address - allocation.begin + bytes - 1) / kSectorBytes;
  unsigned missed = 0, dirtied = 0;
  for (std::uint64_t sector = first; sector <= last; ++sector) {
    PageUse& page = allocation.pages[sector / 128];
    if (page.epoch + 4 < clock.epoch()) page = PageUse{};
    page.epoch = clock.epoch();
    const std::uint64_t bit = 1ull << (sector % 64);
    const std::size_t half = sector % 128 / 64;
    // A written sector is allocated without being read: writers mostly fill whole sectors.
    if (!(page.present[half] & bit)) page.present[half] |= bit, missed += access == Access::read;
    if (access == Access::write && !(page.dirty[half] & bit)) page.dirty[half] |= bit, ++dirtied;
  }
  BlockPhase& work = *warp.work;
  work.l2_sectors += last - first + 1;
  work.dram_read += missed;
  work.dram_written += dirtied;
  if (missed) clock.advance(missed);
  return missed;
}

unsigned shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask, unsigned bytes) {
  // 32 banks of 4 bytes; lanes that read one word share a wavefront. Wide accesses go in groups of lanes.
  const unsigned words = std::max(bytes / 4, 1u), group = 32 / words;
  unsigned total = 0;
  for (unsigned start = 0; start < 32; start += group) {
    std::uint32_t last_word[32];
    std::uint8_t used[32] = {};
    unsigned most = 0;
    const std::uint32_t lanes = group == 32 ? mask : mask & (((1u << group) - 1) << start);
    each_lane(lanes, [&](unsigned lane) {
      for (unsigned k = 0; k < words; ++k) {
        const std::uint32_t word = offsets[lane] / 4 + k;
        const unsigned bank = word % 32;
        if (used[bank] && last_word[bank] == word) continue;
        last_word[bank] = word;
        most = std::max<unsigned>(most, ++used[bank]);
      }
    });
    total += most;
  }
  return total;
}

void note_written(Warp& warp, std::uint64_t address, unsigned bytes) {
  if (warp.grid->watches.any()) warp.grid->watches.written(address, bytes);
}

void stamp_store(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane) {
  Stamp& stamp = warp.grid->stamps[address / 4];
  stamp = {warp.phase, op.site, warp.block->index, static_cast<std::uint16_t>(warp.index), static_cast<std::uint8_t>(lane), false};
}

void stamp_atomic(Warp& warp, const DecodedOp& op, std::uint64_t address, unsigned lane) {
  Stamp& stamp = warp.grid->stamps[address / 4];
  const bool met_another = stamp.atomic && stamp.block != warp.block->index && stamp.phase >= warp.phase;
  warp.gathered = warp.gathered || met_another;
  stamp = {std::max(stamp.phase, warp.phase), op.site, warp.block->index, static_cast<std::uint16_t>(warp.index),
           static_cast<std::uint8_t>(lane), true};
}

void join_stamp(Warp& warp, std::uint64_t address) {
  const auto found = warp.grid->stamps.find(address / 4);
  if (found == warp.grid->stamps.end()) return;
  const Stamp& stamp = found->second;
  if (stamp.atomic) {
    // A counter runs ahead when fast blocks arrive at the next barrier already: one step per wait is right.
    if (warp.waited_since_effect || stamp.phase < warp.phase) return;
    enter_phase(warp, warp.phase + 1);
    warp.waited_since_effect = true;
  } else if (stamp.block != warp.block->index && stamp.phase >= warp.phase) {
    enter_phase(warp, stamp.phase + 1);
  }
}

void load_carefully(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  std::uint32_t offsets[32] = {}, shared = 0;
  unsigned missed = 0;
  bool global = false;
  std::uint64_t last_sector = 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    const Place place = place_of(warp, op, form.space, address, op.bytes, lane, Access::read);
    std::byte raw[32];
    std::memset(raw, 0xff, sizeof raw);
    if (place.data) copy_in(place, raw, op.bytes);
    if (place.data && place.space == MemorySpace::shared) {
      offsets[lane] = static_cast<std::uint32_t>(place.data - place.home->shared), shared |= 1u << lane;
    }
    if (place.allocation && address / kSectorBytes != last_sector) {
      missed += touch(warp, *place.allocation, address, op.bytes, Access::read);
      last_sector = (address + op.bytes - 1) / kSectorBytes;
      global = true;
    }
    put_loaded(warp, op, form, lane, raw);
  });
  if (shared) warp.work->shared_wavefronts += shared_wavefronts(offsets, shared, op.bytes);
  if (global) add_wait(warp, warp.grid->cache(op), missed);
}

void store_carefully(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  std::uint32_t offsets[32] = {}, shared = 0;
  each_lane(mask, [&](unsigned lane) {
    std::byte raw[32];
    for (unsigned j = 0; j < form.count; ++j) {
      const std::uint32_t reg = element_register(warp, op, form.count, j, op.b);
      const std::uint64_t bits = form.wide_register ? warp.row<std::uint64_t>(reg)[lane] : warp.row<std::uint32_t>(reg)[lane];
      std::memcpy(raw + j * form.element_bytes(), &bits, form.element_bytes());
    }
    const std::uint64_t address = lane_address(warp, op, form, lane);
    const Place place = place_of(warp, op, form.space, address, op.bytes, lane, Access::write);
    if (!place.data) return;
    copy_out(place, raw, op.bytes);
    if (place.space == MemorySpace::local) return;
    if (place.space == MemorySpace::shared) offsets[lane] = static_cast<std::uint32_t>(place.data - place.home->shared), shared |= 1u << lane;
    if (place.allocation) touch(warp, *place.allocation, address, op.bytes, Access::write);
    if (place.allocation && form.strong) stamp_store(warp, op, address, lane);
    note_written(warp, reinterpret_cast<std::uint64_t>(place.data), op.bytes);
    note_effect(warp);
  });
  if (shared) warp.work->shared_wavefronts += shared_wavefronts(offsets, shared, op.bytes);
  if (form.strong && warp.gathered) {  // the last to arrive lets the others go: its own work goes on in the next phase
    warp.gathered = false;
    enter_phase(warp, warp.phase + 1);
  }
}

void poll_load(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  warp.block->l1.forget();
  const AccessForm form = AccessForm::unpack(op.extra);
  std::uint64_t last_sector = 0;
  unsigned missed = 0;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    const Place place = place_of(warp, op, form.space, address, op.bytes, lane, Access::read);
    std::byte raw[32];
    std::memset(raw, 0xff, sizeof raw);
    if (place.data) copy_in(place, raw, op.bytes);
    put_loaded(warp, op, form, lane, raw);
    if (!place.data || place.space == MemorySpace::local) return;
    std::uint64_t value[4] = {};
    std::memcpy(value, raw, op.bytes);
    warp.polls->add(reinterpret_cast<std::uint64_t>(place.data), value[0] ^ value[1] * 3 ^ value[2] * 5 ^ value[3] * 7, op.site, lane, op.bytes);
    if (!place.allocation) return;
    join_stamp(warp, address);
    if (address / kSectorBytes != last_sector) missed += touch(warp, *place.allocation, address, op.bytes, Access::read);
    last_sector = address / kSectorBytes;
  });
  const bool repeats = warp.polls->previous != 0;  // spinning costs what the barrier costs, not a latency each time
  if (last_sector && !repeats) add_wait(warp, warp.grid->cache(op), missed);
}

}  // namespace onelaunch::emu
