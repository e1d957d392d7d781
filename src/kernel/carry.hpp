// Turns a rescaled sum of matmuls over the loop, as in online softmax, into one matmul that accumulates in place.
//
//   o = o * r + p v      ->      o *= r, then o += p v on the tensor cores      r: one factor per row
//
// The loop-carried sum o and the product p v then share one set of accumulator registers, and the tensor core does
// the addition.
#pragma once
#include <map>

#include "kernel/step.hpp"

namespace zellige::kernel {

/// Rewrites every accumulate node o = o * r + p v whose factor r is one number per row. The matmul p v gets r as its
/// third operand, becomes `carried` (accumulates over the loop), and replaces the accumulate node, which is left
/// without operands and readers. The map has the choice for each matmul, by node.
void carry_rescaled(tile::TileProgram&, const std::map<int, MatmulChoice>&);

/// Returns the node with the factor, one per row, by which the accumulators of the matmul `n` are multiplied before
/// an iteration's product is added. Returns -1 if `n` is no matmul or has no such factor.
inline int rescaled_by(const tile::Node& n) {
  return n.kind == tile::NodeKind::matmul && n.in.size() > 2 ? n.in[2] : -1;
}

}  // namespace zellige::kernel
