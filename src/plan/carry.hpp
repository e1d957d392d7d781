// Carry: replaces a loop state to which a matmul is added by the matmul's own accumulators, rescaled before
// each iteration.
//
//   o = o * r + p v      ->      o *= r, then o += p v on the tensor cores      r: one per row
//
// Saves half the registers, and the addition of two tiles.
// Before: the matmuls' instructions are known. After: such a matmul is carried and has r as its third
// operand; the accumulate node is unused.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void carry_rescaled(KernelPlan&);

/// The factor of a loop's matmul by which its accumulators are multiplied before this iteration is added; -1:
/// none.
inline int rescaled_by(const Node& n) { return n.kind == NodeKind::matmul && n.in.size() > 2 ? n.in[2] : -1; }

}  // namespace zellige::plan
