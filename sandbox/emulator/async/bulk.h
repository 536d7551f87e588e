#pragma once
// Bulk copies while they run: what the decoded operation says, and its parts that other files need.

#include <cstdint>

#include "sandbox/emulator/async/flights.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {

constexpr unsigned kBulkUnit = 16;       // addresses and sizes are multiples of it

// DecodedOp::extra. Addresses in the list: destination, source, barrier; b: bytes; c: ranks of a multicast.
struct BulkForm {
  bool to_shared = false, from_shared = false;  // else global
  bool barrier = false;                         // completes on a barrier, else in a bulk group
  bool multicast = false, reduces = false;
  AtomicForm change;
  std::uint8_t element_bytes = 4;
  std::uint32_t pack() const {
    return std::uint32_t{to_shared} | std::uint32_t{from_shared} << 1 | std::uint32_t{barrier} << 2 | std::uint32_t{multicast} << 3 |
           std::uint32_t{reduces} << 4 | std::uint32_t{element_bytes} << 5 | change.pack();
  }
  static BulkForm unpack(std::uint32_t bits) {
    return {(bits & 1) != 0, (bits >> 1 & 1) != 0, (bits >> 2 & 1) != 0, (bits >> 3 & 1) != 0, (bits >> 4 & 1) != 0,
            AtomicForm::unpack(bits), static_cast<std::uint8_t>(bits >> 5 & 31)};
  }
};

void copy_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask);
void prefetch_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask);
void commit_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask);
void wait_bulk(Warp& warp, const DecodedOp& op, std::uint32_t mask);  // b: groups kept; extra: 1 when only their reads matter

}  // namespace onelaunch::emu
