#pragma once
// What is remembered of each word of memory that a launch can change: who wrote it, who has read it since, whether it
// holds anything at all. Words are 4 bytes until somebody accesses a part of one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sandbox/emulator/check/clock.h"

namespace onelaunch::emu {

struct AccessMark {
  enum class Kind : std::uint8_t { none, read, strong_read, write, strong_write, same_write };  // same: left the value as it was
  Agent agent = 0;
  std::uint32_t step = 0;       // of the agent's clock
  std::uint32_t site = 0;
  std::uint8_t lane = 0;
  Kind kind = Kind::none;
  bool async = false;           // through the async proxy

  bool writes() const { return kind >= Kind::write; }
  bool strong() const { return kind == Kind::strong_read || kind == Kind::strong_write; }
};

struct Cell {
  AccessMark write;                     // the last weak one
  std::uint64_t write_sequence = 0;     // when
  std::vector<AccessMark> others;       // since then; at most one per agent and kind, sorted by them
};

class Shadow {
 public:
  static constexpr unsigned kPageBytes = 256;
  // Calls visit(cell, offset, bytes) for each word of [offset, offset + bytes).
  template <class Visit>
  void visit(std::size_t offset, unsigned bytes, Visit visit_cell) {
    for (const std::size_t end = offset + bytes; offset < end;) {
      Page& page = page_of(offset / kPageBytes);
      if (page.unit == 4 && (offset % 4 != 0 || end - offset < 4)) split(page);
      visit_cell(page.cells[offset % kPageBytes / page.unit], offset, page.unit);
      offset += page.unit;
    }
  }

 private:
  struct Page {
    unsigned unit = 4;
    std::vector<Cell> cells = std::vector<Cell>(kPageBytes / 4);
  };
  Page& page_of(std::size_t number);
  static void split(Page& page);
  std::vector<std::unique_ptr<Page>> pages_;
};

// For each byte whether it was ever written.
class DefinedBytes {
 public:
  void define(std::size_t offset, std::size_t bytes);
  // First byte in the range that nobody wrote; offset + bytes when there is none.
  std::size_t first_undefined(std::size_t offset, std::size_t bytes) const;

 private:
  std::vector<unsigned char> defined_;  // 1 or 0
};

}  // namespace onelaunch::emu
