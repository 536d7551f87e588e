#include "sandbox/emulator/async/flights.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "sandbox/emulator/async/mbarrier.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {
namespace {

// More of the small copies, of which a kernel issues millions, are not kept waiting.
constexpr std::size_t kFlyingMax = 512;

const std::byte* source(const Flight& flight) { return flight.from ? flight.from : flight.held.data(); }

void move_bytes(const Flight& flight) {
  if (flight.kind == Flight::Kind::copy) return void(std::memmove(flight.to, source(flight), flight.bytes));
  const unsigned size = flight.element_bytes;
  for (std::uint32_t at = 0; at < flight.bytes; at += size) {
    std::uint64_t old = 0, operand = 0;
    std::memcpy(&old, flight.to + at, size);
    std::memcpy(&operand, source(flight) + at, size);
    const std::uint64_t next = changed_register(flight.change, size, old, operand, 0, flight.flush);
    std::memcpy(flight.to + at, &next, size);
  }
}

void complain(Grid& grid, const Flight& flight, const std::string& what) {
  if (grid.faults.is_new(Fault::Kind::misuse, flight.site)) {
    grid.faults.add(Fault::Kind::misuse, flight.site,
                    grid.faults.place(flight.site) + ": " + what + "; block " + std::to_string(flight.issuer->block->index) +
                        " warp " + std::to_string(flight.issuer->index) + " lane " + std::to_string(flight.lane));
  }
  grid.faults.stop();
}

void signal(Grid& grid, const Flight& flight) {
  Block& home = *flight.barrier_home;
  const auto found = home.mbarriers.find(flight.barrier_offset);
  if (found == home.mbarriers.end()) return complain(grid, flight, "its mbarrier is gone before the copy has landed");
  found->second.latest_cycles = std::max(found->second.latest_cycles, flight.ready_cycles);
  const std::string wrong = flight.kind == Flight::Kind::arrive
                                ? arrive(grid, home, flight.barrier_offset, found->second, 1)
                                : complete_bytes(grid, home, flight.barrier_offset, found->second, flight.bytes);
  if (!wrong.empty()) complain(grid, flight, wrong);
}

void arrives(Grid& grid, const Flight& flight) {
  if (flight.kind != Flight::Kind::arrive) {
    move_bytes(flight);
    if (grid.watches.any()) grid.watches.written(reinterpret_cast<std::uint64_t>(flight.to), flight.bytes);
  }
  if (flight.barrier_home) signal(grid, flight);
}

void hold(Flight& flight) {
  if (!flight.from) return;
  flight.held.assign(flight.from, flight.from + flight.bytes);
  flight.from = nullptr;
  flight.from_home = nullptr;
}

}  // namespace

void Flights::launch(Grid& grid, Flight flight) {
  if (!later) return arrives(grid, flight);
  flight.group = open_group(*flight.issuer, flight.lane, flight.bulk);
  flying_.push_back(std::move(flight));
  if (flying_.size() > kFlyingMax && !flying_.back().bulk) land(grid, flying_.size() - 1);
}

void Flights::land(Grid& grid, std::size_t index) {
  // An arrival comes after the copies that its thread issued before it.
  if (flying_[index].kind == Flight::Kind::arrive) {
    for (std::size_t i = 0; i < index; ++i) {
      const Flight &earlier = flying_[i], &last = flying_[index];
      if (earlier.bulk || earlier.issuer != last.issuer || earlier.lane != last.lane) continue;
      land(grid, i);
      --i, --index;
    }
  }
  const Flight flight = std::move(flying_[index]);
  flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(index));
  arrives(grid, flight);
}

void Flights::land_all(Grid& grid) {
  while (!flying_.empty()) land(grid, 0);
}

std::uint32_t Flights::open_group(const Warp& warp, unsigned lane, bool bulk) const {
  const auto found = open_.find({&warp, lane, bulk});
  return found == open_.end() ? 0 : found->second;
}

void Flights::commit(const Warp& warp, unsigned lane, bool bulk) {
  if (later) ++open_[{&warp, lane, bulk}];
}

void Flights::wait(Grid& grid, const Warp& warp, unsigned lane, bool bulk, std::uint32_t kept, bool read_only) {
  if (!later) return;
  const std::uint32_t open = open_group(warp, lane, bulk);
  for (std::size_t i = 0; i < flying_.size();) {
    Flight& flight = flying_[i];
    const bool mine = flight.grouped && flight.issuer == &warp && flight.lane == lane && flight.bulk == bulk;
    const std::uint64_t needed = std::uint64_t{flight.group} + kept;
    if (!mine || needed >= open) {
      ++i;
    } else if (read_only) {
      hold(flight), ++i;
    } else {
      land(grid, i);
    }
  }
}

void Flights::block_ends(Grid& grid, const Block& block) {
  for (std::size_t i = 0; i < flying_.size();) {
    const Flight& flight = flying_[i];
    const bool uses = flight.from_home == &block || flight.to_home == &block || flight.barrier_home == &block;
    if (uses && flight.bulk) complain(grid, flight, "the block ends while this copy still uses its shared memory");
    if (uses || flight.issuer->block == &block) land(grid, i);
    else ++i;
  }
  std::erase_if(open_, [&block](const auto& entry) { return std::get<0>(entry.first)->block == &block; });
}

}  // namespace onelaunch::emu
