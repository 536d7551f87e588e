// mbarrier: the instructions on barriers in shared memory, lane after lane.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "sandbox/emulator/async/mbarrier_access.h"
#include "sandbox/emulator/async/rows.h"
#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/memory/access.h"
#include "sandbox/emulator/memory/modifiers.h"

namespace onelaunch::emu {
namespace {

enum class Action : std::uint8_t { init, inval, expect, complete, arrive, wait, pending_count };

// Above the access form in DecodedOp::extra. b: count, bytes, parity or state; dst: state or predicate.
struct BarrierAction {
  Action action = Action::init;
  bool expects = false;        // arrive.expect_tx: b holds bytes
  bool drops = false;          // arrive_drop
  bool may_complete = true;    // not .noComplete
  bool by_parity = false;      // else by state
  std::uint32_t pack() const {
    return (static_cast<std::uint32_t>(action) | std::uint32_t{expects} << 4 | std::uint32_t{drops} << 5 |
            std::uint32_t{may_complete} << 6 | std::uint32_t{by_parity} << 7) << kFormBits;
  }
  static BarrierAction unpack(std::uint32_t extra) {
    const std::uint32_t bits = extra >> kFormBits;
    return {static_cast<Action>(bits & 15), (bits >> 4 & 1) != 0, (bits >> 5 & 1) != 0, (bits >> 6 & 1) != 0, (bits >> 7 & 1) != 0};
  }
};

// What arrive returns: the phase it arrived in and how many arrivals that lacked before.
std::uint64_t state_of(const Mbarrier& barrier) { return barrier.phase << 32 | barrier.pending; }

MbarrierPlace place(Warp& warp, const DecodedOp& op, AccessForm form, unsigned lane) {
  return find_mbarrier(warp, op, form.space == MemorySpace::shared, lane_address(warp, op, form, lane), lane);
}

void initialise(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const Place to = place_of(warp, op, form.space, lane_address(warp, op, form, lane), kMbarrierBytes, lane, Access::write);
    if (!to.data) return;
    if (!to.home) return report_fault(warp, op, 1u << lane, "an mbarrier must lie in shared memory");
    const std::uint32_t count = warp.row<std::uint32_t>(op.b)[lane];
    if (count == 0 || count > kArrivalsMax) return report_fault(warp, op, 1u << lane, "an mbarrier cannot wait for " + std::to_string(count) + " arrivals");
    const auto offset = static_cast<std::uint32_t>(to.data - to.home->shared);
    const auto live = to.home->mbarriers.find(offset);
    std::uint64_t mark = 0;
    std::memcpy(&mark, to.data, sizeof mark);
    if (live != to.home->mbarriers.end() && mark == mbarrier_mark(live->second))
      return report_fault(warp, op, 1u << lane, "this barrier is in use already: mbarrier.inval must come before a second init");
    Mbarrier& barrier = to.home->mbarriers[offset] = Mbarrier{.expected = count, .pending = count};
    mark = mbarrier_mark(barrier);
    std::memcpy(to.data, &mark, sizeof mark);
  });
  note_effect(warp);
}

void invalidate(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const MbarrierPlace at = place(warp, op, form, lane);
    if (!at.barrier) return;
    std::memset(at.home->shared + at.offset, 0, kMbarrierBytes);
    at.home->mbarriers.erase(at.offset);
  });
}

void change_bytes(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  const bool expects = BarrierAction::unpack(op.extra).action == Action::expect;
  each_lane(mask, [&](unsigned lane) {
    const MbarrierPlace at = place(warp, op, form, lane);
    if (!at.barrier) return;
    const std::uint32_t bytes = warp.row<std::uint32_t>(op.b)[lane];
    const std::string wrong = expects ? expect_bytes(*at.barrier, bytes) : complete_bytes(*warp.grid, *at.home, at.offset, *at.barrier, bytes);
    if (!wrong.empty()) report_fault(warp, op, 1u << lane, wrong);
  });
  note_effect(warp);
}

std::string arrive_one(Warp& warp, const DecodedOp& op, BarrierAction action, const MbarrierPlace& at, unsigned lane) {
  Mbarrier& barrier = *at.barrier;
  const std::uint32_t number = op.b == kNoOperand ? 1 : warp.row<std::uint32_t>(op.b)[lane];
  const std::uint32_t count = action.expects ? 1 : number;
  if (action.expects) {
    if (std::string wrong = expect_bytes(barrier, number); !wrong.empty()) return wrong;
  }
  if (!action.may_complete && count >= barrier.pending) return "an arrival with .noComplete would complete the phase";
  if (action.drops && count > barrier.expected) return "more threads leave the barrier than it waits for";
  if (action.drops) barrier.expected -= count;
  barrier.latest_cycles = std::max(barrier.latest_cycles, cycles_of(warp));
  return arrive(*warp.grid, *at.home, at.offset, barrier, count);
}

void arrive_at(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  const BarrierAction action = BarrierAction::unpack(op.extra);
  each_lane(mask, [&](unsigned lane) {
    const MbarrierPlace at = place(warp, op, form, lane);
    if (!at.barrier) return;
    const std::uint64_t state = state_of(*at.barrier);
    const std::string wrong = arrive_one(warp, op, action, at, lane);
    if (!wrong.empty()) return report_fault(warp, op, 1u << lane, wrong);
    if (op.dst != kNoOperand) warp.row_to_write<std::uint64_t>(op.dst)[lane] = state;
  });
  note_effect(warp);
}

// A waiter of the past looks again: two phases that ended meanwhile have the parity of none.
void remember_waiter(Warp& warp, const DecodedOp& op, const MbarrierPlace& at, bool by_parity, unsigned lane) {
  Mbarrier& barrier = *at.barrier;
  for (Mbarrier::Waiter& waiter : barrier.waiters) {
    if (waiter.warp != &warp) continue;
    if (by_parity && waiter.phase != barrier.phase) {
      report_fault(warp, op, 1u << lane, "the parity wrapped: phases " + std::to_string(waiter.phase) + " to " + std::to_string(barrier.phase - 1) +
                                             " of the barrier ended while this warp waited for the first of them");
    }
    waiter.phase = barrier.phase;
    return;
  }
  barrier.waiters.push_back({&warp, barrier.phase});
}

// The wait is over: the warp goes on from where the phase was complete.
void end_wait(Warp& warp, Mbarrier& barrier) {
  if (!barrier.waiters.empty()) std::erase_if(barrier.waiters, [&warp](const Mbarrier::Waiter& each) { return each.warp == &warp; });
  const double late = barrier.ready_cycles - cycles_of(warp);
  if (late > 0) warp.chain_cycles += std::min(late, static_cast<double>(warp.grid->chain.dram_cycles));
}

bool is_over(Warp& warp, const DecodedOp& op, const MbarrierPlace& at, bool by_parity, std::uint64_t token, unsigned lane) {
  const std::uint64_t phase = at.barrier->phase;
  const bool over = by_parity ? (phase & 1) != (token & 1) : (phase & 0xffffffffu) != token >> 32;
  if (over) return end_wait(warp, *at.barrier), true;
  remember_waiter(warp, op, at, by_parity, lane);
  warp.polls->add_barrier(reinterpret_cast<std::uint64_t>(at.home->shared + at.offset), phase, op.site, lane);
  return false;
}

void wait_at(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  const AccessForm form = AccessForm::unpack(op.extra);
  const bool by_parity = BarrierAction::unpack(op.extra).by_parity;
  std::uint64_t last_address = ~0ull, last_token = ~0ull;
  std::uint32_t over = 0;
  bool last = false;
  each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = lane_address(warp, op, form, lane);
    const std::uint64_t token = by_parity ? warp.row<std::uint32_t>(op.b)[lane] : warp.row<std::uint64_t>(op.b)[lane];
    if (address != last_address || token != last_token) {
      const MbarrierPlace at = place(warp, op, form, lane);
      if (at.barrier && at.home != warp.block) report_fault(warp, op, 1u << lane, "a thread can wait only at barriers of its own block");
      if (at.barrier && by_parity && token > 1) report_fault(warp, op, 1u << lane, "the parity must be 0 or 1, not " + std::to_string(token));
      last = at.barrier && is_over(warp, op, at, by_parity, token, lane);
      last_address = address, last_token = token;
    }
    over |= std::uint32_t{last} << lane;
  });
  warp.set_predicate(op.dst, over, mask);
}

void count_pending(Warp& warp, const DecodedOp& op, std::uint32_t mask) {
  each_lane(mask, [&](unsigned lane) { warp.row_to_write<std::uint32_t>(op.dst)[lane] = static_cast<std::uint32_t>(warp.row<std::uint64_t>(op.b)[lane]); });
}

OpFn function_of(Action action) {
  switch (action) {
    case Action::init: return &initialise;
    case Action::inval: return &invalidate;
    case Action::expect:
    case Action::complete: return &change_bytes;
    case Action::arrive: return &arrive_at;
    case Action::wait: return &wait_at;
    case Action::pending_count: return &count_pending;
  }
  return nullptr;
}

Result<BarrierAction> take_action(Modifiers& modifiers) {
  BarrierAction result;
  const std::string_view name = modifiers.take_one_of({"init", "inval", "arrive_drop", "arrive", "test_wait", "try_wait", "pending_count"});
  const bool expects = modifiers.take("expect_tx");
  if (name == "arrive" || name == "arrive_drop") {
    result.action = Action::arrive;
    result.drops = name == "arrive_drop";
    result.expects = expects;
    result.may_complete = !modifiers.take("noComplete");
  } else if (expects) {
    result.action = Action::expect;
  } else if (modifiers.take("complete_tx")) {
    result.action = Action::complete;
  } else if (name.ends_with("wait")) {
    result.action = Action::wait;
    result.by_parity = modifiers.take("parity");
  } else if (name == "inval" || name == "pending_count") {
    result.action = name == "inval" ? Action::inval : Action::pending_count;
  } else if (name.empty()) {
    return invalid("names no operation that is understood");
  }
  return result;
}

Result<void> set_operands(DecodeContext& context, const LoweredInstruction& instruction, BarrierAction action, AccessForm& form, DecodedOp& op) {
  const bool gives = action.action == Action::arrive || action.action == Action::wait;
  const std::size_t address = gives ? 1 : 0, number = address + 1;
  const bool needs_number = action.action != Action::inval && (action.action != Action::arrive || action.expects);
  const std::size_t most = action.action == Action::wait ? number + 2 : number + 1;  // a time limit
  if (instruction.operands.size() < number + (needs_number ? 1 : 0) || instruction.operands.size() > most) return invalid("has a wrong number of operands");
  if (gives) op.dst = instruction.operands[0].offset;
  if (action.action == Action::wait && op.dst == kNoOperand) return invalid("needs a predicate");
  set_address(context, instruction.operands[address], form, op);
  const bool by_state = action.action == Action::wait && !action.by_parity;
  if (instruction.operands.size() > number) op.b = value_row(context, instruction.operands[number], by_state);
  return {};
}

}  // namespace

double cycles_of(const Warp& warp) { return warp.block->cycles_before + warp.chain_cycles; }

MbarrierPlace find_mbarrier(Warp& warp, const DecodedOp& op, bool shared, std::uint64_t address, unsigned lane) {
  const Place at = place_of(warp, op, shared ? MemorySpace::shared : MemorySpace::generic, address, kMbarrierBytes, lane, Access::write);
  if (!at.data) return warp.grid->faults.stop(), MbarrierPlace{};
  if (!at.home) return report_fault(warp, op, 1u << lane, "an mbarrier must lie in shared memory"), MbarrierPlace{};
  const auto offset = static_cast<std::uint32_t>(at.data - at.home->shared);
  const auto found = at.home->mbarriers.find(offset);
  if (found == at.home->mbarriers.end()) {
    report_fault(warp, op, 1u << lane, "no mbarrier has been initialised at shared byte " + std::to_string(offset - kSharedStart));
    return {};
  }
  std::uint64_t mark = 0;
  std::memcpy(&mark, at.data, sizeof mark);
  if (mark != mbarrier_mark(found->second)) {
    report_fault(warp, op, 1u << lane, "the mbarrier at shared byte " + std::to_string(offset - kSharedStart) + " was overwritten by an ordinary store or copy");
    return {};
  }
  return {&found->second, at.home, offset};
}

Result<DecodedOp> decode_mbarrier(DecodeContext& context, const LoweredInstruction& instruction, Modifiers& modifiers) {
  const Result<BarrierAction> action = take_action(modifiers);
  if (!action) return because(action.error());
  modifiers.take_one_of({"release", "acquire", "relaxed"});
  modifiers.take_one_of({"cta", "cluster"});
  AccessForm form;
  form.space = take_space(modifiers);
  modifiers.take("b64");
  DecodedOp op;
  op.cost = CostClass::load_store;
  op.bytes = kMbarrierBytes;
  if (action->action == Action::pending_count) {
    if (instruction.operands.size() != 2) return invalid("expects a destination and a state");
    op.dst = instruction.operands[0].offset;
    op.b = value_row(context, instruction.operands[1], true);
  } else if (const auto set = set_operands(context, instruction, *action, form, op); !set) {
    return because(set.error());
  }
  op.extra = form.pack() | action->pack();
  op.control = action->action == Action::wait ? Control::poll : Control::none;
  op.full = op.masked = function_of(action->action);
  return op;
}

}  // namespace onelaunch::emu
