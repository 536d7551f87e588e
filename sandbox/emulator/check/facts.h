#pragma once
// What the detectors must know of an operation, read from its opcode.

#include <cstdint>
#include <string>

namespace onelaunch::emu {

struct OpFacts {
  enum class Kind : std::uint8_t {
    none, load, store, atomic, matrix_load, matrix_store, fence, proxy_fence, barrier_arrive, barrier_wait,
    small_copy, small_commit, small_wait, small_wait_all, small_arrive,    // cp.async
    bulk_copy, bulk_commit, bulk_wait, async_store,
  };
  Kind kind = Kind::none;
  bool strong = false;        // volatile, relaxed or more, or an atomic
  bool acquires = false, releases = false;
  bool within_block = false;  // its scope is .cta
  bool incoherent = false;    // ld.global.nc
  bool reads_only = false;    // wait_group.read
};

OpFacts facts_of(const std::string& opcode);

}  // namespace onelaunch::emu
