// Finds the stored values from which an elementwise expression is evaluated (loads, accumulators, reductions), and
// at which coordinates it reads each of them.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Where a value is read, relative to the coordinate that is being evaluated: at the same coordinate (own), at the
/// same place of the other matrix of a batch's pair (pair), in the only column of the same row (row), or elsewhere.
enum class At : std::uint8_t { own, pair, row, elsewhere };
/// Returns where an elementwise operator of shape `map` reads an operand, which may broadcast, if the operator's own
/// value is read at the place given by the first argument.
At narrowed(At, const Shape& operand, const Shape& map);
/// Returns where a rotary embedding reads its operand if its own value is read at the place given by the first
/// argument: the element itself (`itself`) or the other element of its pair. Returns `elsewhere` unless pairs are along
/// the last batch dimension.
At rotated(At, const Node& rotate, bool itself);

/// A value in memory or registers that an elementwise expression reads.
struct Leaf {
  int node;
  At at;  // relative to the coordinate at which the expression is evaluated
  /// Returns whether it is read at exactly the coordinate that is evaluated.
  bool identity() const { return at == At::own; }
};
/// Returns the leaves of the expression `node`, which is evaluated at coordinates of `domain`. Elementwise nodes are
/// expanded, except those in `evaluated` (node -> thread-value layout): their values are in registers, as leaves.
std::vector<Leaf> leaves(const BlockProgram&, int node, const Shape& domain,
                         const std::map<int, int>& evaluated = {});

}  // namespace zellige::plan
