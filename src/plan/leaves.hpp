// Finds the stored values that a value is computed from, and whether each is read at the value's own
// coordinates.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The place of a read relative to the requested coordinate: there, in the other matrix of a batch's pair, in
/// the only column of its row, or anywhere else.
enum class At : std::uint8_t { own, pair, row, elsewhere };
/// The place at which a map that is requested there reads an operand.
At narrowed(At, const Shape& operand, const Shape& map);
/// The place at which a rotate reads `itself`, or the other of its pair. Pairs may be along a batch's last
/// dimension.
At rotated(At, const Node& rotate, bool itself);

/// A value that a root's evaluation reads: a stored or register-resident node.
struct Leaf {
  int node;
  At at;  // relative to the root's coordinates
  bool identity() const { return at == At::own; }
};
/// The leaves of a value that is requested at coordinates of `domain`; maps that are `evaluated` in registers are
/// leaves too.
std::vector<Leaf> leaves(const BlockProgram&, int node, const Shape& domain,
                         const std::map<int, int>& evaluated = {});

}  // namespace zellige::plan
