#include "sandbox/emulator/check/races.h"

#include <algorithm>
#include <tuple>

#include "sandbox/emulator/exec/grid.h"

namespace onelaunch::emu {
namespace {

using Kind = AccessMark::Kind;
constexpr std::size_t kPruneFrom = 64;

bool before(const AccessMark& a, const AccessMark& b) { return std::tie(a.agent, a.kind) < std::tie(b.agent, b.kind); }

bool known(const WarpClock& me, const AccessMark& mark) { return me.knows(mark.agent, mark.step); }

// Whether the reader has seen a store of the very value that the word holds.
bool saw_the_value(const Cell& cell, const WarpClock& me) {
  return std::any_of(cell.others.begin(), cell.others.end(), [&me](const AccessMark& each) { return each.kind == Kind::same_write && known(me, each); });
}

bool conflicts(const AccessMark& earlier, const AccessMark& later) {
  if (!earlier.writes() && !later.writes()) return false;
  if (earlier.strong() && later.strong()) return false;
  return !(earlier.kind == Kind::same_write && !later.writes());
}

}  // namespace

std::string Races::who(const AccessMark& access) const {
  const auto issuer = issuers_.find(access.agent);
  const Agent warp = issuer == issuers_.end() ? access.agent : issuer->second;
  const std::uint32_t warps = (grid_.shape.block + 31) / 32;
  return grid_.faults.place(access.site) + " in thread " + std::to_string(warp % warps * 32 + access.lane) + " of block " + std::to_string(warp / warps);
}

bool Races::is_new(const Look& look) { return grid_.faults.is_new(Fault::Kind::data_race, look.access.site); }

void Races::complain(const Look& look, const AccessMark& earlier, const std::string& what) {
  grid_.faults.add(Fault::Kind::data_race, look.access.site,
                   "data race in " + grid_.program.name + " on " + regions_.describe(*look.target.region, look.offset) + ": " + who(look.access) + " " +
                       (look.access.writes() ? "writes" : "reads") + " what " + who(earlier) + " " + (earlier.writes() ? "wrote" : "read") + "; " + what);
}

void Races::conflict(const AccessMark& earlier, const Look& look) {
  if (!is_new(look)) return;
  const WarpClock* const other = order_.warp_of(earlier.agent);
  if (!other) return complain(look, earlier, "the copy's completion has not been waited for");
  if (other->step == earlier.step) return complain(look, earlier, "no barrier, fence or release follows the first access");
  if (order_.read_relaxed(look.me, earlier.agent, earlier.step))
    return complain(look, earlier, "the order rests on a relaxed or volatile load alone: a fence or .acquire is missing");
  complain(look, earlier, "the first was released, but the second's thread has acquired nothing that orders it");
}

void Races::check_proxy(const Cell& cell, const Look& look) {
  if (!look.access.async || look.access.writes() || cell.write.kind == Kind::none || cell.write.async) return;
  const WarpClock* const writer = order_.warp_of(cell.write.agent);
  if (look.me.proxy_fence > cell.write_sequence || (writer && writer->proxy_fence > cell.write_sequence)) return;
  if (is_new(look)) complain(look, cell.write, "an ordinary store needs fence.proxy.async before a bulk copy reads it");
}

void Races::check(const Cell& cell, const Look& look) {
  const AccessMark& access = look.access;
  if (access.kind == Kind::same_write) return;
  if (cell.write.kind != Kind::none && !known(look.me, cell.write) && (access.writes() || !saw_the_value(cell, look.me))) return conflict(cell.write, look);
  check_proxy(cell, look);
  for (const AccessMark& earlier : cell.others) {
    if (conflicts(earlier, access) && !known(look.me, earlier)) return conflict(earlier, look);
  }
}

void Races::record(Cell& cell, const Look& look, std::uint64_t sequence) {
  const AccessMark& access = look.access;
  if (access.kind == Kind::write) {
    cell.write = access;
    cell.write_sequence = sequence;
    cell.others.clear();
    return;
  }
  const auto at = std::lower_bound(cell.others.begin(), cell.others.end(), access, before);
  if (at != cell.others.end() && !before(access, *at)) return void(*at = access);
  cell.others.insert(at, access);
  const std::size_t size = cell.others.size();
  if (size < kPruneFrom || (size & (size - 1)) != 0) return;
  // What is ordered before this access needs no watching, as far as this access conflicts with all that the old one does.
  std::erase_if(cell.others, [&](const AccessMark& each) {
    const bool same = each.agent == access.agent && each.kind == access.kind;
    return !same && known(look.me, each) && (access.kind == Kind::strong_write || (access.kind == Kind::read && !each.writes()));
  });
}

void Races::note(const Target& target, const AccessMark& access, const WarpClock& me, std::uint64_t sequence, bool incoherent) {
  target.region->shadow.visit(target.offset, target.bytes, [&](Cell& cell, std::size_t offset, unsigned) {
    const Look look{target, access, me, offset};
    check(cell, look);
    if (incoherent && cell.write.kind != Kind::none && is_new(look)) complain(look, cell.write, "ld.global.nc must not read what this launch writes");
    record(cell, look, sequence);
  });
}

}  // namespace onelaunch::emu
