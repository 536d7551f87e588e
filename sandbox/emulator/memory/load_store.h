#pragma once
// The fast loads and stores, built once per vector level of the host; memory/levels.cpp picks one at start-up.

#include "sandbox/emulator/memory/form.h"
#include "sandbox/emulator/program/program.h"

namespace onelaunch::emu {

// The operation for this form: never null; forms without a fast way get the careful one.
using PickOp = OpFn (*)(AccessForm form);

namespace level_base { OpFn pick_load(AccessForm form); OpFn pick_store(AccessForm form); }
namespace level_v3 { OpFn pick_load(AccessForm form); OpFn pick_store(AccessForm form); }
namespace level_v4 { OpFn pick_load(AccessForm form); OpFn pick_store(AccessForm form); }

OpFn pick_load(AccessForm form);
OpFn pick_store(AccessForm form);

}  // namespace onelaunch::emu
