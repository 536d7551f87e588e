#pragma once
// Copies that have been issued and may not have landed yet: cp.async, bulk copies, st.async, red.async, and the
// arrivals that follow cp.async.

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "sandbox/emulator/memory/change.h"

namespace onelaunch::emu {

struct Block;
struct Grid;
struct Warp;

struct Flight {
  enum class Kind : std::uint8_t { copy, reduce, arrive };
  Kind kind = Kind::copy;
  bool bulk = false;                     // counted by bulk groups, not by cp.async groups
  bool grouped = false;                  // waited for by a group of its thread, not by a barrier
  std::uint8_t lane = 0;
  const Warp* issuer = nullptr;
  std::uint32_t site = 0, group = 0;
  const std::byte* from = nullptr;       // null: the bytes are in `held`
  std::byte* to = nullptr;
  std::uint32_t bytes = 0;
  std::vector<std::byte> held;           // st.async, and sources that have been read already
  AtomicForm change;                     // of reduce
  std::uint8_t element_bytes = 4;
  bool flush = false;                    // subnormal f32 become zero: sums in global memory
  Block* barrier_home = nullptr;         // whose mbarrier hears of it
  std::uint32_t barrier_offset = 0;
  Block* from_home = nullptr;            // whose shared memory is read and written
  Block* to_home = nullptr;
  double ready_cycles = 0;               // model
};

class Flights {
 public:
  // Later: copies land when somebody waits for their group, when nobody else can run, or by chance. Else at once.
  bool later = false;

  void launch(Grid& grid, Flight flight);
  bool any() const { return !flying_.empty(); }
  void land(Grid& grid, std::size_t index);
  std::size_t count() const { return flying_.size(); }
  void land_all(Grid& grid);

  std::uint32_t open_group(const Warp& warp, unsigned lane, bool bulk) const;
  void commit(const Warp& warp, unsigned lane, bool bulk);
  // All but the newest `kept` groups of this thread land, or with `read_only` have at least been read.
  void wait(Grid& grid, const Warp& warp, unsigned lane, bool bulk, std::uint32_t kept, bool read_only);
  // The block ends: what still flies to or from its shared memory lands now; of bulk copies that is reported.
  void block_ends(Grid& grid, const Block& block);

 private:
  using Thread = std::tuple<const Warp*, unsigned, bool>;
  std::vector<Flight> flying_;           // oldest first
  std::map<Thread, std::uint32_t> open_;
};

}  // namespace onelaunch::emu
