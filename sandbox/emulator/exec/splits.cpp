#include "sandbox/emulator/exec/splits.h"

#include <algorithm>
#include <bit>

namespace onelaunch::emu {
namespace {

Split& make_split(WarpRun& run, std::uint32_t lanes, std::uint32_t pc, Join* join) {
  run.splits.push_back(std::make_unique<Split>());
  Split& split = *run.splits.back();
  split.warp = &run;
  split.mask = lanes;
  split.pc = pc;
  split.join = join;
  return split;
}

void remove_join(WarpRun& run, const Join* join) {
  std::erase_if(run.joins, [join](const std::unique_ptr<Join>& each) { return each.get() == join; });
}

// Drops joins that nobody comes to any more and nobody refers to.
void prune_joins(WarpRun& run) {
  const auto referred = [&run](const Join* join) {
    return std::any_of(run.splits.begin(), run.splits.end(), [join](const auto& split) { return split->join == join; }) ||
           std::any_of(run.joins.begin(), run.joins.end(), [join](const auto& other) { return other->outer == join; });
  };
  std::erase_if(run.joins, [&](const std::unique_ptr<Join>& join) { return join->expected == 0 && !referred(join.get()); });
}

}  // namespace

void remove(Split& split) {
  std::vector<std::unique_ptr<Split>>& splits = split.warp->splits;
  std::erase_if(splits, [&split](const std::unique_ptr<Split>& each) { return each.get() == &split; });
}

Split& fork(Split& split, std::uint32_t lanes, std::uint32_t pc) {
  split.mask &= ~lanes;
  return make_split(*split.warp, lanes, pc, split.join);
}

Split& diverge(Split& split, std::uint32_t taken, std::uint32_t target, std::uint32_t meeting) {
  // A loop that lanes leave one by one meets at one place: one join serves all its iterations.
  if (meeting != kNoPc && !(split.join && split.join->pc == meeting)) {
    split.warp->joins.push_back(std::make_unique<Join>(Join{meeting, split.mask, 0, split.join}));
    split.join = split.warp->joins.back().get();
  }
  return fork(split, taken, target);
}

bool arrive_at_joins(Split& split, std::uint32_t pc) {
  while (split.join && split.join->pc == pc) {
    Join* const join = split.join;
    join->arrived |= split.mask;
    if (join->arrived != join->expected) {
      remove(split);
      return false;
    }
    split.mask = join->arrived;
    split.join = join->outer;
    remove_join(*split.warp, join);
  }
  return true;
}

Split* release_a_join(WarpRun& run) {
  Join* best = nullptr;
  for (const std::unique_ptr<Join>& join : run.joins) {
    if (join->arrived && (!best || std::popcount(join->arrived) > std::popcount(best->arrived))) best = join.get();
  }
  if (!best) return nullptr;
  Split& split = make_split(run, best->arrived, best->pc, best->outer);
  best->expected &= ~best->arrived;
  best->arrived = 0;
  return &split;
}

void lanes_exited(WarpRun& run, std::uint32_t lanes, std::vector<Split*>& ready) {
  for (std::size_t i = 0; i < run.joins.size(); ++i) {
    Join& join = *run.joins[i];
    join.expected &= ~lanes;
    if (join.arrived == 0 || join.arrived != join.expected) continue;
    ready.push_back(&make_split(run, join.arrived, join.pc, join.outer));
    join.arrived = join.expected = 0;
  }
  prune_joins(run);
}

}  // namespace onelaunch::emu
