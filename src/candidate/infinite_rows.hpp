// Checks that a fused kernel of a group of operators returns NaN for a row of minus infinities if the operators,
// computed one by one, return NaN. For such a row exp(x - maximum) is NaN if computed exactly, but 0 in the kernel,
// because the running maximum of the kernel's loop starts at the lowest finite float32. A softmax becomes NaN again: it
// divides 0 by a sum of 0. Other uses of these zeros would lose the NaN:
//
//   e / sum(e), (e @ v) / sum(e), x - maximum - log(sum(e))     accepted: 0 / 0, or infinity - infinity
//   sum(e) + 1e-6, e @ v as an output                           rejected
//
// A maximum that is clamped from below by a finite number, as in safe_softmax, needs no check.
#pragma once
#include <vector>

#include "candidate/deferred.hpp"

namespace zellige::candidate {

/// Throws Error if, for a row of minus infinities, a fused kernel of these steps (operators) might return a number
/// although the operators return NaN. deferred[v] is value v as a block has it inside the loop. `again`: the rows are
/// split over blocks, and a later kernel computes the values before a sum again, from the exact maximum.
void require_nan_rows(const GroupSteps&, const std::vector<Deferred>& deferred, bool again);

}  // namespace zellige::candidate
