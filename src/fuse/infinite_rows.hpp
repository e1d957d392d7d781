// Checks that a group computes NaN for a row of minus infinities where its operators do. The running maximum of a loop
// starts at the lowest finite float32, so that for such a row exp(x - maximum) is 0 in the kernel, where the operators
// compute NaN. A softmax is NaN again: it divides 0 by a sum of 0. Other uses of these zeros would lose the NaN:
//
//   e / sum(e), (e @ v) / sum(e), x - maximum - log(sum(e))     accepted: 0 / 0, or infinity - infinity
//   sum(e) + 1e-6, e @ v as an output                           rejected
//
// A maximum that is clamped from below by a finite number, as in safe_softmax, needs no check.
#pragma once
#include <vector>

#include "fuse/deferred.hpp"

namespace zellige::fuse {

/// Throws Error if, for a row of minus infinities, a result of the group might be a number where its operators compute
/// NaN. The cause is a running maximum, with which exp(x - maximum) is 0 instead of NaN. deferred[v] is value v as a
/// block has it inside the loop. `again`: the rows are split over blocks, and a later kernel computes the values
/// before a sum again, from the exact maximum.
void require_nan_rows(const Steps&, const std::vector<Deferred>& deferred, bool again);

}  // namespace zellige::fuse
