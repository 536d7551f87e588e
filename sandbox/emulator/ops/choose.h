#pragma once
// Instances of operation templates by flags known at decode.

#include "sandbox/emulator/ops/row.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

template <template <bool> class Op>
constexpr OpFns fns_by(bool one) {
  return one ? fns<Op<true>>() : fns<Op<false>>();
}

template <template <bool, bool> class Op>
constexpr OpFns fns_by(bool one, bool two) {
  if (one) return two ? rare_fns<Op<true, true>>() : fns<Op<true, false>>();
  return two ? rare_fns<Op<false, true>>() : fns<Op<false, false>>();
}

}  // namespace onelaunch::emu::OL_OPS_LEVEL
