#pragma once
// Factories of the memory operations, by file.

#include "sandbox/emulator/program/opcode_table.h"

namespace onelaunch::emu {

Result<DecodedOp> decode_load(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_store(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_atomic(DecodeContext&, const LoweredInstruction&, Modifiers&);   // atom and red
Result<DecodedOp> decode_cvta(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_isspacep(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_mapa(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_getctarank(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_hint(DecodeContext&, const LoweredInstruction&, Modifiers&);     // prefetch and the like
Result<DecodedOp> decode_createpolicy(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_ldmatrix(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> decode_stmatrix(DecodeContext&, const LoweredInstruction&, Modifiers&);

}  // namespace onelaunch::emu
