// Turns a rescaled sum of matmuls over the loop, as in online softmax, into one matmul that accumulates in place.
//
//   o = o * r + p v      ->      o *= r, then o += p v on the tensor cores      r: one factor per row
//
// The loop state o and the product p v then share one set of accumulator registers, and the tensor core does the
// addition.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Rewrites every node o = o * r + p v of the loop whose factor r is one number per row. The matmul p v becomes
/// `carried` (accumulates over the loop) with r as its third operand, and replaces the accumulate node, which loses its
/// operands and readers. Requires the choice of the matmuls' instructions.
void carry_rescaled(KernelPlan&);

/// Returns the node whose value multiplies a carried matmul's accumulators, row by row, before an iteration's
/// product is added; -1 if the node is no matmul or has no such factor.
inline int rescaled_by(const Node& n) { return n.kind == NodeKind::matmul && n.in.size() > 2 ? n.in[2] : -1; }

}  // namespace zellige::plan
