// Faults that end a launch at once.
#include <bit>
#include <string>

#include "sandbox/emulator/exec/block.h"
#include "sandbox/emulator/exec/grid.h"
#include "sandbox/emulator/exec/warp.h"

namespace onelaunch::emu {
namespace {

void stop(Warp& warp, const DecodedOp& op, std::uint32_t lanes, Fault::Kind kind, const std::string& what) {
  FaultLog& faults = warp.grid->faults;
  if (faults.is_new(kind, op.site)) {
    faults.add(kind, op.site, faults.place(op.site) + ": " + what + "; block " + std::to_string(warp.block->index) + " warp " +
                                  std::to_string(warp.index) + " lane " + std::to_string(std::countr_zero(lanes)));
  }
  faults.stop();
}

}  // namespace

void report_fault(Warp& warp, const DecodedOp& op, std::uint32_t lanes, const std::string& what) {
  stop(warp, op, lanes, Fault::Kind::misuse, what);
}

void report_trap(Warp& warp, const DecodedOp& op, std::uint32_t lanes) { stop(warp, op, lanes, Fault::Kind::trap, "trap"); }

}  // namespace onelaunch::emu
