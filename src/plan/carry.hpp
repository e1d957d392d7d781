// Carry: a state of the loop to which a product is added becomes the product's own accumulators, rescaled before each.
//
//   o = o * r + p v      ->      o *= r, then o += p v on the tensor cores      r: one for each row
//
// Half the registers, and no addition of two tiles. Before: the products' rows are known. After: such a product is carried and has r
// as its third operand; nobody reads the accumulate any more.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

void carry_rescaled(KernelPlan&);

/// Of a product of a loop, what its sums so far are multiplied by before this iteration's are added; -1: nothing.
inline int rescaled_by(const Node& n) { return n.kind == NodeKind::matmul && n.in.size() > 2 ? n.in[2] : -1; }

}  // namespace zellige::plan
