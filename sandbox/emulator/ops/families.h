#pragma once
// The families of operations, one source file each, at one vector level.

#include "sandbox/emulator/ops/forms.h"

namespace onelaunch::emu::OL_OPS_LEVEL {

using FormSpan = std::span<const ops::Form>;

FormSpan integer_forms();
FormSpan integer_product_forms();  // mul, mad, dp4a, sad, ...
FormSpan bit_forms();
FormSpan bit_field_forms();        // bfe, bfi, bfind, lop3
FormSpan permute_forms();          // prmt
FormSpan predicate_forms();        // and, or, xor, not, mov of predicates; selp, slct
FormSpan float32_forms();
FormSpan float32_approximation_forms();
FormSpan float64_forms();
FormSpan half_forms();
FormSpan half_fma_forms();
FormSpan compare_forms();          // setp, testp
FormSpan move_forms();
FormSpan warp_forms();

// Instructions with more than one type, or none.
Result<DecodedOp> make_convert(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> make_set(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> make_slct(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> make_dot_product(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> make_elect(DecodeContext&, const LoweredInstruction&, Modifiers&);
Result<DecodedOp> make_mma(DecodeContext&, const LoweredInstruction&, Modifiers&);

}  // namespace onelaunch::emu::OL_OPS_LEVEL
