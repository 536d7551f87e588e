#pragma once
// Polling: what a spinning loop looks at, who sleeps on it, and who wrote it last.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace onelaunch::emu {

struct Split;

// What the lanes of one split polled since the last loop back edge. Addresses are host addresses, of any space.
struct PollLog {
  struct Seen {
    std::uint64_t address, value;
    std::uint32_t site;
    std::uint8_t lane, bytes;
    bool barrier = false;                // an mbarrier: its phase is looked at, not its bytes
  };
  std::vector<Seen> seen;
  std::uint64_t signature = 0;           // of `seen`
  std::uint64_t previous = 0;            // signature of the iteration before
  std::uint32_t effects_before = 0;      // Warp::effects when that iteration began
  bool timer = false;                    // the loop reads a clock

  void add(std::uint64_t address, std::uint64_t value, std::uint32_t site, unsigned lane, unsigned bytes) {
    seen.push_back({address, value, site, static_cast<std::uint8_t>(lane), static_cast<std::uint8_t>(bytes)});
    for (const std::uint64_t word : {address, value, std::uint64_t{site} << 8 | lane}) {
      signature = (signature ^ word) * 0x9e3779b97f4a7c15ull;
      signature ^= signature >> 29;
    }
  }
  void add_barrier(std::uint64_t address, std::uint64_t phase, std::uint32_t site, unsigned lane) {
    add(address, phase, site, lane, 8);
    seen.back().barrier = true;
  }
  void clear() { seen.clear(), signature = 0, timer = false; }
};

// Splits asleep until a watched word is written.
class WatchTable {
 public:
  bool any() const { return watched_ != 0; }
  // Whether a watched word may lie in [begin, end).
  bool near(std::uint64_t begin, std::uint64_t end) const { return watched_ != 0 && begin < high_ && end > low_; }
  void watch(std::uint64_t address, unsigned bytes, Split* split);
  void unwatch(std::uint64_t address, unsigned bytes, const Split* split);
  // Moves the splits that watch these bytes to `woken` (they must unwatch their other words).
  void written(std::uint64_t address, unsigned bytes) {
    if (address >= high_ || address + bytes <= low_) return;
    collect(address, bytes);
  }
  // Waiting at mbarriers makes no store careful: only barrier operations end it.
  void watch_barrier(std::uint64_t address, Split* split) { by_barrier_[address].push_back(split); }
  void unwatch_barrier(std::uint64_t address, const Split* split);
  void barrier_completed(std::uint64_t address);
  std::vector<Split*>& woken() { return woken_; }

 private:
  void collect(std::uint64_t address, unsigned bytes);

  std::unordered_map<std::uint64_t, std::vector<Split*>> by_granule_;  // address / 8
  std::unordered_map<std::uint64_t, std::vector<Split*>> by_barrier_;
  std::vector<Split*> woken_;
  std::size_t watched_ = 0;
  std::uint64_t low_ = ~0ull, high_ = 0;
};

// Who changed a word of global memory last by an access that others may wait for, and in which phase.
struct Stamp {
  std::uint32_t phase = 0, site = 0;
  std::uint32_t block = 0;
  std::uint16_t warp = 0;
  std::uint8_t lane = 0;
  bool atomic = false;
};
using Stamps = std::unordered_map<std::uint64_t, Stamp>;  // by address / 4

}  // namespace onelaunch::emu
