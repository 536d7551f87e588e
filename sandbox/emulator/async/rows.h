#pragma once
// Factories of the asynchronous instructions, by file.

#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {

Result<DecodedOp> decode_mbarrier(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_copy(DecodeContext&, const LoweredInstruction&, Modifiers&);        // cp
Result<DecodedOp> decode_bulk(DecodeContext&, const LoweredInstruction&, Modifiers&);        // cp.async.bulk, .async and .bulk taken
Result<DecodedOp> decode_bulk_reduce(DecodeContext&, const LoweredInstruction&, Modifiers&); // cp.reduce.async.bulk, likewise
Result<DecodedOp> decode_async_store(DecodeContext&, const LoweredInstruction&, Modifiers&); // st.async, .async taken
Result<DecodedOp> decode_async_red(DecodeContext&, const LoweredInstruction&, Modifiers&);   // red.async, likewise

}  // namespace onelaunch::emu
