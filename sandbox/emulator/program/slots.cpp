#include "sandbox/emulator/program/slots.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace onelaunch::emu {
namespace {

// Linear scan over one class: numbers of slots, the lowest free one first. Returns how many there are.
std::uint32_t scan(const std::vector<std::size_t>& by_start, const std::vector<Interval>& intervals,
                   std::vector<std::uint32_t>& slot_of) {
  using Ending = std::pair<std::size_t, std::uint32_t>;  // last instruction, slot
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t count = 0;
  for (const std::size_t reg : by_start) {
    while (!active.empty() && active.top().first < intervals[reg].first) {
      free.push(active.top().second);
      active.pop();
    }
    if (free.empty()) free.push(count++);
    slot_of[reg] = free.top();
    free.pop();
    active.emplace(intervals[reg].last, slot_of[reg]);
  }
  return count;
}

}  // namespace

Slots assign_slots(const std::vector<RegisterClass>& registers, const std::vector<Interval>& intervals) {
  Slots slots;
  slots.offset_of.assign(registers.size(), kNoOperand);
  std::uint32_t base = 0;
  // Widest first, so that every row starts on 64 bytes.
  for (const auto& [shape, bytes] : {std::pair{RegisterClass::row64, kRow64Bytes}, {RegisterClass::row32, kRow32Bytes},
                                     {RegisterClass::predicate, kPredicateBytes}}) {
    std::vector<std::size_t> by_start;
    for (std::size_t reg = 0; reg < registers.size(); ++reg) {
      if (registers[reg] == shape && !intervals[reg].empty()) by_start.push_back(reg);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](std::size_t a, std::size_t b) { return intervals[a].first < intervals[b].first; });
    const std::uint32_t count = scan(by_start, intervals, slots.offset_of);
    for (const std::size_t reg : by_start) slots.offset_of[reg] = base + slots.offset_of[reg] * bytes;
    base += count * bytes;
  }
  slots.layout.bytes = (base + 63) / 64 * 64;
  return slots;
}

}  // namespace onelaunch::emu
