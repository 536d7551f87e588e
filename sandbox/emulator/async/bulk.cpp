#include "sandbox/emulator/async/bulk.h"

#include <string>

#include "sandbox/emulator/async/mbarrier_access.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/cluster.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/address_list.h"

namespace onelaunch::emu {
namespace {

enum Listed : std::uint32_t { kDestination, kSource, kBarrier };
constexpr unsigned kRankShift = 24;
constexpr std::uint32_t kOffsetMask = (1u << kRankShift) - 1;

MemorySpace space_of(bool shared) { return shared ? MemorySpace::shared : MemorySpace::global; }

// One lane's copy; what is wrong has been reported and has stopped the launch.
class BulkCopy {
 public:
  BulkCopy(Warp& warp, const DecodedOp& op, unsigned lane)
      : warp_(warp), op_(op), form_(BulkForm::unpack(op.extra)), lane_(lane), bytes_(warp.row<std::uint32_t>(op.b)[lane]) {}

  void run() {
    if (bytes_ % kBulkUnit != 0 || bytes_ > static_cast<std::uint32_t>(kOwedBytesMax))
      return report_fault(warp_, op_, 1u << lane_, "a bulk copy of " + std::to_string(bytes_) + " bytes: sizes are multiples of 16 below 2^20");
    if (bytes_ == 0) return;
    const std::uint64_t address = listed_address(warp_, op_, kSource, lane_);
    source_ = find(form_.from_shared, address, Access::read);
    if (!source_.data) return;
    ready_cycles_ = cycles_of(warp_) + read_cost(address);
    if (!form_.multicast) return send(listed_address(warp_, op_, kDestination, lane_), form_.barrier ? listed_address(warp_, op_, kBarrier, lane_) : 0);
    const std::uint32_t ranks = warp_.row<std::uint32_t>(op_.c)[lane_] & 0xffff;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      const std::uint64_t field = std::uint64_t{rank + 1} << kRankShift;
      if (!(ranks >> rank & 1)) continue;
      if (rank >= warp_.block->cluster->blocks.size())
        return report_fault(warp_, op_, 1u << lane_, "the multicast names rank " + std::to_string(rank) + ", which the cluster does not have");
      send((listed_address(warp_, op_, kDestination, lane_) & kOffsetMask) | field, (listed_address(warp_, op_, kBarrier, lane_) & kOffsetMask) | field);
    }
  }

 private:
  Place find(bool shared, std::uint64_t address, Access access) {
    const Place place = place_of_run(warp_, op_, space_of(shared), address, bytes_, kBulkUnit, lane_, access);
    if (!place.data) warp_.grid->faults.stop();
    return place;
  }

  double read_cost(std::uint64_t address) {
    warp_.work->shared_wavefronts += bytes_ / 128;
    const ChainCosts& chain = warp_.grid->chain;
    if (!source_.allocation) return chain.l1_cycles;
    return touch(warp_, *source_.allocation, address, bytes_, Access::read) ? chain.dram_cycles : chain.l2_cycles;
  }

  void send(std::uint64_t to, std::uint64_t barrier) {
    const Place target = find(form_.to_shared, to, Access::write);
    if (!target.data) return;
    if (target.allocation) {
      touch(warp_, *target.allocation, to, bytes_, Access::write);
      if (form_.reduces) warp_.work->atomics += bytes_ / kBulkUnit;
    }
    Flight flight{.kind = form_.reduces ? Flight::Kind::reduce : Flight::Kind::copy, .bulk = true, .grouped = !form_.barrier,
                  .lane = static_cast<std::uint8_t>(lane_), .issuer = &warp_, .site = op_.site, .from = source_.data, .to = target.data,
                  .bytes = bytes_, .change = form_.change, .element_bytes = form_.element_bytes, .flush = target.allocation != nullptr,
                  .from_home = source_.home, .to_home = target.home, .ready_cycles = ready_cycles_};
    if (form_.barrier) {
      const MbarrierPlace at = find_mbarrier(warp_, op_, true, barrier, lane_);
      if (!at.barrier) return;
      if (at.home != target.home)
        return report_fault(warp_, op_, 1u << lane_, "the copy's mbarrier lies in block " + std::to_string(at.home->index) + ", its destination in block " + std::to_string(target.home->index));
      flight.barrier_home = at.home;
      flight.barrier_offset = at.offset;
    }
    warp_.grid->flights.launch(*warp_.grid, std::move(flight));
  }

  Warp& warp_;
  const DecodedOp& op_;
  const BulkForm form_;
  const unsigned lane_;
  const std::uint32_t bytes_;
  Place source_;
  double ready_cycles_ = 0;
};

}  // namespace

void copy_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) { BulkCopy(warp, op, lane).run(); });
  note_effect(warp);
}

void prefetch_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = listed_address(warp, op, 0, lane);
    const std::uint32_t bytes = warp.row<std::uint32_t>(op.b)[lane];
    if (bytes % kBulkUnit != 0) return report_fault(warp, op, 1u << lane, "a bulk prefetch of " + std::to_string(bytes) + " bytes: sizes are multiples of 16");
    if (bytes == 0) return;
    const Place place = place_of_run(warp, op, MemorySpace::global, address, bytes, kBulkUnit, lane, Access::read);
    if (place.allocation) touch(warp, *place.allocation, address, bytes, Access::read);
  });
}

void commit_bulk(Warp& warp, const DecodedOp&, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) { warp.grid->flights.commit(warp, lane, true); });
}

void wait_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) {
    warp.grid->flights.wait(*warp.grid, warp, lane, true, warp.row<std::uint32_t>(op.b)[lane], op.extra != 0);
  });
  warp.chain_cycles += op.extra != 0 ? warp.grid->chain.l1_cycles : warp.grid->chain.l2_cycles;
}

}  // namespace onelaunch::emu
