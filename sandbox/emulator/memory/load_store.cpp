// Loads and stores of global and shared memory when nothing is unusual: lanes side by side, all lanes at one address,
// or scattered inside one allocation. OL_EMU_LEVEL names the namespace of the vector level it is built for. Nothing
// here may instantiate library code out of line: the linker could hand it to a host without these instructions.
#include "sandbox/emulator/memory/load_store.h"

#include <cstring>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"

namespace onelaunch::emu::OL_EMU_LEVEL {
namespace {

template <class T>
struct Row { T lanes[32]; };

// Rows of the elements: of `dst`/`b`, or of the operand list.
template <int N>
std::uint32_t element_register(const Warp& warp, const DecodedOp& op, int j, std::uint32_t single) {
  return N == 1 ? single : warp.operands[op.list + static_cast<std::uint32_t>(j)];
}

template <class T, class D, int N>
void unpack(Warp& warp, const DecodedOp& op, const std::byte* from) {
  T raw[32 * N];
  std::memcpy(raw, from, sizeof raw);
  for (int j = 0; j < N; ++j) {
    D* const row = warp.row_to_write<D>(element_register<N>(warp, op, j, op.dst));
    for (int i = 0; i < 32; ++i) row[i] = static_cast<D>(raw[i * N + j]);
  }
}

template <class T, class D, int N>
void broadcast(Warp& warp, const DecodedOp& op, const std::byte* from) {
  T raw[N];
  std::memcpy(raw, from, sizeof raw);
  for (int j = 0; j < N; ++j) {
    D* const row = warp.row_to_write<D>(element_register<N>(warp, op, j, op.dst));
    const D value = static_cast<D>(raw[j]);
    for (int i = 0; i < 32; ++i) row[i] = value;
  }
}

template <class T, class D, int N>
void gather(Warp& warp, const DecodedOp& op, std::uint32_t mask, const std::uint64_t* addresses) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    T raw[N];
    std::memcpy(raw, reinterpret_cast<const std::byte*>(addresses[i]), sizeof raw);
    for (int j = 0; j < N; ++j) warp.row_to_write<D>(element_register<N>(warp, op, j, op.dst))[i] = static_cast<D>(raw[j]);
  }
}

template <class T, class D, int N>
void scatter(Warp& warp, const DecodedOp& op, std::uint32_t mask, const std::uint64_t* addresses) {
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    T raw[N];
    for (int j = 0; j < N; ++j) raw[j] = static_cast<T>(warp.row<D>(element_register<N>(warp, op, j, op.b))[i]);
    std::memcpy(reinterpret_cast<std::byte*>(addresses[i]), raw, sizeof raw);
  }
}

template <class T, class D, int N>
void pack(const Warp& warp, const DecodedOp& op, std::byte* to) {
  T raw[32 * N];
  for (int j = 0; j < N; ++j) {
    const D* const row = warp.row<D>(element_register<N>(warp, op, j, op.b));
    for (int i = 0; i < 32; ++i) raw[i * N + j] = static_cast<T>(row[i]);
  }
  std::memcpy(to, raw, sizeof raw);
}

// How the lanes' addresses lie.
enum class Shape { side_by_side, uniform, scattered };
struct Span {
  std::uint64_t low, high;   // first byte, one past the last
  std::uint64_t tail;        // or of all addresses: alignment
};

template <class A>
Shape shape_of(const A* row, std::uint32_t mask, unsigned size) {
  if (mask != ~0u) return Shape::scattered;
  A varies = 0, strays = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const A offset = static_cast<A>(row[i] - row[0]);
    varies |= offset;
    strays |= static_cast<A>(offset ^ static_cast<A>(i * size));
  }
  return strays == 0 ? Shape::side_by_side : varies == 0 ? Shape::uniform : Shape::scattered;
}

// Full addresses of the lanes in the mask, and what they span; lanes outside copy the first lane of the mask.
template <class A>
Span expand(const A* row, std::uint64_t added, std::uint32_t mask, unsigned size, std::uint64_t* addresses) {
  const A first = row[__builtin_ctz(mask)], offset = static_cast<A>(added);  // 32-bit addresses wrap
  std::int64_t low = static_cast<std::int64_t>(static_cast<A>(first + offset)), high = low;
  std::uint64_t tail = 0;
  for (int i = 0; i < 32; ++i) {
    const std::uint64_t address = static_cast<A>((mask >> i & 1 ? row[i] : first) + offset);
    addresses[i] = address;
    const std::int64_t compared = static_cast<std::int64_t>(address);
    low = compared < low ? compared : low;
    high = compared > high ? compared : high;
    tail |= address;
  }
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high) + size, tail};
}

bool inside(Grid& grid, OpCache& cache, std::uint64_t low, std::uint64_t high, Access access) {
  if (low >= cache.begin && high <= cache.end) return true;
  refill(grid, cache, low, access);
  return low >= cache.begin && high <= cache.end;
}

// Counts sectors of a run of bytes inside one page without a call; falls back on touch().
inline unsigned touch_run(Warp& warp, Allocation& allocation, std::uint64_t low, std::uint64_t high, Access access) {
  const std::uint64_t first = (low - allocation.begin) / kSectorBytes, last = (high - 1 - allocation.begin) / kSectorBytes;
  PageUse& page = allocation.pages.data()[first / 128];
  if (access == Access::read && first / 64 == last / 64 && page.epoch == warp.grid->l2.epoch()) {
    const unsigned count = static_cast<unsigned>(last - first + 1);
    const std::uint64_t bits = (count == 64 ? ~0ull : (1ull << count) - 1) << (first % 64);
    std::uint64_t& present = page.present[first % 128 / 64];
    if ((present & bits) == bits) {
      warp.work->l2_sectors += count;
      return 0;
    }
  }
  return touch(warp, allocation, low, static_cast<unsigned>(high - low), access);
}

// How far a load had to go.
enum class Reach { l1, l2, dram };

inline void add_wait(Warp& warp, const OpCache& cache, Reach reach) {
  if (!cache.rounds) return;
  const ChainCosts& chain = warp.grid->chain;
  warp.chain_cycles += reach == Reach::dram ? chain.dram_cycles : reach == Reach::l2 ? chain.l2_cycles : chain.l1_cycles;
}

inline bool keeps_in_l1(const DecodedOp& op) { return !AccessForm::unpack(op.extra).past_l1; }

Reach read_run(Warp& warp, const DecodedOp& op, Allocation& allocation, std::uint64_t low, std::uint64_t high) {
  if (keeps_in_l1(op)) {
    bool held = true;
    for (std::uint64_t line = low & ~std::uint64_t{127}; line < high; line += 128) held = warp.block->l1.read(line) && held;
    if (held) return Reach::l1;
  }
  return touch_run(warp, allocation, low, high, Access::read) ? Reach::dram : Reach::l2;
}

// Lanes that read one line one after the other look it up once.
Reach read_lanes(Warp& warp, const DecodedOp& op, Allocation& allocation, std::uint32_t mask, const std::uint64_t* addresses,
                 unsigned size) {
  const bool keeps = keeps_in_l1(op);
  Reach reach = Reach::l1;
  std::uint64_t last_line = ~0ull, last_sector = ~0ull;
  bool held = false;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(left)];
    if (address / 128 != last_line) held = keeps && warp.block->l1.read(address);
    last_line = address / 128;
    if (held || address / kSectorBytes == last_sector) continue;
    last_sector = address / kSectorBytes;
    const Reach here = touch_run(warp, allocation, address, address + size, Access::read) ? Reach::dram : Reach::l2;
    reach = here > reach ? here : reach;
  }
  return reach;
}

unsigned touch_lanes(Warp& warp, Allocation& allocation, std::uint32_t mask, const std::uint64_t* addresses, unsigned size,
                     Access access) {
  std::uint64_t last = ~0ull;
  unsigned missed = 0;
  for (std::uint32_t left = mask; left; left &= left - 1) {
    const std::uint64_t address = addresses[__builtin_ctz(left)];
    if (address / kSectorBytes == last) continue;
    last = address / kSectorBytes;
    missed += touch_run(warp, allocation, address, address + size, access);
  }
  return missed;
}

template <class T, class D, int N>
void load_global(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  constexpr unsigned kSize = sizeof(T) * N;
  const std::uint64_t* const row = warp.row<std::uint64_t>(op.a);
  OpCache& cache = warp.grid->cache(op);
  const Shape shape = shape_of(row, mask, kSize);
  if (shape != Shape::scattered) {
    const std::uint64_t low = row[0] + op.imm, high = low + (shape == Shape::uniform ? kSize : 32 * kSize);
    if (low % kSize || !inside(*warp.grid, cache, low, high, Access::read)) return load_carefully(warp, op, mask);
    add_wait(warp, cache, read_run(warp, op, *cache.allocation, low, high));
    if (shape == Shape::uniform) return broadcast<T, D, N>(warp, op, reinterpret_cast<const std::byte*>(low));
    return unpack<T, D, N>(warp, op, reinterpret_cast<const std::byte*>(low));
  }
  std::uint64_t addresses[32];
  const Span span = expand(row, op.imm, mask, kSize, addresses);
  if (span.tail % kSize || !inside(*warp.grid, cache, span.low, span.high, Access::read)) return load_carefully(warp, op, mask);
  add_wait(warp, cache, read_lanes(warp, op, *cache.allocation, mask, addresses, kSize));
  gather<T, D, N>(warp, op, mask, addresses);
}

template <class T, class D, int N>
void store_global(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  constexpr unsigned kSize = sizeof(T) * N;
  const std::uint64_t* const row = warp.row<std::uint64_t>(op.a);
  OpCache& cache = warp.grid->cache(op);
  if (shape_of(row, mask, kSize) == Shape::side_by_side) {
    const std::uint64_t low = row[0] + op.imm, high = low + 32 * kSize;
    if (low % kSize || !inside(*warp.grid, cache, low, high, Access::write)) return store_carefully(warp, op, mask);
    pack<T, D, N>(warp, op, reinterpret_cast<std::byte*>(low));
    touch(warp, *cache.allocation, low, 32 * kSize, Access::write);
    note_written(warp, low, 32 * kSize);
    return note_effect(warp);
  }
  std::uint64_t addresses[32];
  const Span span = expand(row, op.imm, mask, kSize, addresses);
  const bool watched = warp.grid->watches.near(span.low, span.high);
  if (watched || span.tail % kSize || !inside(*warp.grid, cache, span.low, span.high, Access::write)) return store_carefully(warp, op, mask);
  scatter<T, D, N>(warp, op, mask, addresses);
  touch_lanes(warp, *cache.allocation, mask, addresses, kSize, Access::write);
  note_effect(warp);
}

template <class A, class T, class D, int N>
void load_shared(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  constexpr unsigned kSize = sizeof(T) * N;
  const A* const row = warp.row<A>(op.a);
  const Block& block = *warp.block;
  const Shape shape = shape_of(row, mask, kSize);
  if (shape != Shape::scattered) {
    const std::uint64_t low = static_cast<A>(row[0] + static_cast<A>(op.imm));
    const std::uint64_t high = low + (shape == Shape::uniform ? kSize : 32 * kSize);
    if (low < kSharedStart || high > block.shared_end || low % kSize) return load_carefully(warp, op, mask);
    warp.work->shared_wavefronts += shape == Shape::uniform ? 1 : (32 * kSize + 127) / 128;
    if (shape == Shape::uniform) return broadcast<T, D, N>(warp, op, block.shared + low);
    return unpack<T, D, N>(warp, op, block.shared + low);
  }
  std::uint64_t addresses[32];
  const Span span = expand(row, static_cast<A>(op.imm), mask, kSize, addresses);
  if (span.low < kSharedStart || span.high > block.shared_end || span.tail % kSize) return load_carefully(warp, op, mask);
  std::uint32_t offsets[32];
  for (int i = 0; i < 32; ++i) offsets[i] = static_cast<std::uint32_t>(addresses[i]);
  warp.work->shared_wavefronts += shared_wavefronts(offsets, mask, kSize);
  for (int i = 0; i < 32; ++i) addresses[i] += reinterpret_cast<std::uint64_t>(block.shared);
  gather<T, D, N>(warp, op, mask, addresses);
}

template <class A, class T, class D, int N>
void store_shared(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  constexpr unsigned kSize = sizeof(T) * N;
  const A* const row = warp.row<A>(op.a);
  const Block& block = *warp.block;
  const auto shared = reinterpret_cast<std::uint64_t>(block.shared);
  if (warp.grid->watches.near(shared, shared + block.shared_end)) return store_carefully(warp, op, mask);
  if (shape_of(row, mask, kSize) == Shape::side_by_side) {
    const std::uint64_t low = static_cast<A>(row[0] + static_cast<A>(op.imm)), high = low + 32 * kSize;
    if (low < kSharedStart || high > block.shared_end || low % kSize) return store_carefully(warp, op, mask);
    warp.work->shared_wavefronts += (32 * kSize + 127) / 128;
    pack<T, D, N>(warp, op, block.shared + low);
    return note_effect(warp);
  }
  std::uint64_t addresses[32];
  const Span span = expand(row, static_cast<A>(op.imm), mask, kSize, addresses);
  if (span.low < kSharedStart || span.high > block.shared_end || span.tail % kSize) return store_carefully(warp, op, mask);
  std::uint32_t offsets[32];
  for (int i = 0; i < 32; ++i) offsets[i] = static_cast<std::uint32_t>(addresses[i]);
  warp.work->shared_wavefronts += shared_wavefronts(offsets, mask, kSize);
  for (int i = 0; i < 32; ++i) addresses[i] += reinterpret_cast<std::uint64_t>(block.shared);
  scatter<T, D, N>(warp, op, mask, addresses);
  note_effect(warp);
}

// A parameter at a known offset: every lane gets the same.
template <class T, class D, int N>
void load_param(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  constexpr unsigned kSize = sizeof(T) * N;
  const std::uint64_t* const row = warp.row<std::uint64_t>(op.a);
  const std::uint64_t offset = row[0] + op.imm;
  if (shape_of(row, mask, 0) != Shape::side_by_side || offset % kSize || offset + kSize > warp.grid->params.size()) {
    return load_carefully(warp, op, mask);
  }
  broadcast<T, D, N>(warp, op, warp.grid->params.data() + offset);
}

// A generic address is nearly always a global one: only others go the careful way, through failed bounds.
template <class T, class D, int N>
OpFn load_of(AccessForm form) {
  switch (form.space) {
    case MemorySpace::global:
    case MemorySpace::generic: return form.wide_address ? &load_global<T, D, N> : &load_carefully;
    case MemorySpace::shared:
      return form.wide_address ? &load_shared<std::uint64_t, T, D, N> : &load_shared<std::uint32_t, T, D, N>;
    case MemorySpace::param: return form.wide_address ? &load_param<T, D, N> : &load_carefully;
    case MemorySpace::local: break;
  }
  return &load_carefully;
}

template <class T, class D, int N>
OpFn store_of(AccessForm form) {
  switch (form.space) {
    case MemorySpace::global:
    case MemorySpace::generic: return form.wide_address ? &store_global<T, D, N> : &store_carefully;
    case MemorySpace::shared:
      return form.wide_address ? &store_shared<std::uint64_t, T, D, N> : &store_shared<std::uint32_t, T, D, N>;
    default: return &store_carefully;
  }
}

template <class T, class D>
OpFn load_vector(AccessForm form) {
  switch (form.count) {
    case 1: return load_of<T, D, 1>(form);
    case 2: return load_of<T, D, 2>(form);
    case 4: return load_of<T, D, 4>(form);
    default: return &load_carefully;
  }
}

template <class T, class D>
OpFn store_vector(AccessForm form) {
  switch (form.count) {
    case 1: return store_of<T, D, 1>(form);
    case 2: return store_of<T, D, 2>(form);
    case 4: return store_of<T, D, 4>(form);
    default: return &store_carefully;
  }
}

}  // namespace

OpFn pick_load(AccessForm form) {
  if (form.wide_register) {
    if (form.element_log2 == 3) return load_vector<std::uint64_t, std::uint64_t>(form);
    if (form.count != 1) return &load_carefully;
    if (form.element_log2 == 2) return form.sign_extend ? load_of<std::int32_t, std::uint64_t, 1>(form) : load_of<std::uint32_t, std::uint64_t, 1>(form);
    return &load_carefully;
  }
  switch (form.element_log2) {
    case 0: return form.sign_extend ? load_vector<std::int8_t, std::uint32_t>(form) : load_vector<std::uint8_t, std::uint32_t>(form);
    case 1: return form.sign_extend ? load_vector<std::int16_t, std::uint32_t>(form) : load_vector<std::uint16_t, std::uint32_t>(form);
    default: return load_vector<std::uint32_t, std::uint32_t>(form);
  }
}

OpFn pick_store(AccessForm form) {
  if (form.wide_register) return form.element_log2 == 3 ? store_vector<std::uint64_t, std::uint64_t>(form) : &store_carefully;
  switch (form.element_log2) {
    case 0: return store_vector<std::uint8_t, std::uint32_t>(form);
    case 1: return store_vector<std::uint16_t, std::uint32_t>(form);
    default: return store_vector<std::uint32_t, std::uint32_t>(form);
  }
}

}  // namespace onelaunch::emu::OL_EMU_LEVEL
