#include "sandbox/emulator/exec/polls.h"

#include <algorithm>

namespace onelaunch::emu {

void WatchTable::watch(std::uint64_t address, unsigned bytes, Split* split) {
  if (watched_ == 0) low_ = ~std::uint64_t{0}, high_ = 0;
  low_ = std::min(low_, address & ~std::uint64_t{7});
  high_ = std::max<std::uint64_t>(high_, ((address + bytes - 1) | 7) + 1);
  for (std::uint64_t granule = address / 8; granule <= (address + bytes - 1) / 8; ++granule) {
    std::vector<Split*>& splits = by_granule_[granule];
    if (std::find(splits.begin(), splits.end(), split) != splits.end()) continue;
    splits.push_back(split);
    ++watched_;
  }
}

void WatchTable::unwatch(std::uint64_t address, unsigned bytes, const Split* split) {
  for (std::uint64_t granule = address / 8; granule <= (address + bytes - 1) / 8; ++granule) {
    const auto found = by_granule_.find(granule);
    if (found == by_granule_.end()) continue;
    watched_ -= std::erase(found->second, split);
    if (found->second.empty()) by_granule_.erase(found);
  }
}

void WatchTable::unwatch_barrier(std::uint64_t address, const Split* split) {
  const auto found = by_barrier_.find(address);
  if (found != by_barrier_.end()) std::erase(found->second, split);
}

void WatchTable::barrier_completed(std::uint64_t address) {
  const auto found = by_barrier_.find(address);
  if (found == by_barrier_.end()) return;
  woken_.insert(woken_.end(), found->second.begin(), found->second.end());
  found->second.clear();
}

void WatchTable::collect(std::uint64_t address, unsigned bytes) {
  for (std::uint64_t granule = address / 8; granule <= (address + bytes - 1) / 8; ++granule) {
    const auto found = by_granule_.find(granule);
    if (found == by_granule_.end()) continue;
    woken_.insert(woken_.end(), found->second.begin(), found->second.end());
    watched_ -= found->second.size();
    by_granule_.erase(found);
  }
}

}  // namespace onelaunch::emu
