// Sets of columns in tensor memory in the verifier's state: each is a cell, which products write and the loads of other warp roles read.
#pragma once
#include "verify/verify_state.hpp"

namespace zellige::verify {

/// Adds a cell for each set of columns of each channel in tensor memory.
void lay_out_sets(State&);

/// Records that the product of step `e` of warp role `a` writes the set that it has acquired of channel `of`. Its products are complete in
/// the order in which it starts them. Rejects it unless it holds a set, whose loads are complete.
void multiply_into(State&, int a, const StepEvent& e, int of);

/// Records that warp role `a` loads the set of channel `of` that it has acquired in step `e`, its step number `now`. Rejects it unless the
/// products are complete.
void load_columns(State&, int a, const StepEvent& e, int of, std::int64_t now);

}  // namespace zellige::verify
