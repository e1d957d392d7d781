// What a value is made of: the stored values below it, and whether each is read at the value's own coordinates.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Where a value is read, from where it is asked for: right there, in the other matrix of a batch's pair, in its row's only column, or
/// anywhere.
enum class At : std::uint8_t { own, pair, row, elsewhere };
/// Where a map that is asked for there reads an operand.
At narrowed(At, const Shape& operand, const Shape& map);
/// Where a rotate does: `itself`, or the other of its pair. Pairs may lie along a batch's last dimension.
At turned(At, const Node& rotate, bool itself);

/// Values that a root's evaluation reads: stored or register-resident nodes below it.
struct Leaf {
  int node;
  At at;  // from the root's coordinates
  bool identity() const { return at == At::own; }
};
/// Of a value that is asked for at coordinates of `domain`; below it maps that are `held` in registers are leaves too.
std::vector<Leaf> leaves(const BlockProgram&, int node, const Shape& domain,
                         const std::map<int, int>& held = {});

}  // namespace zellige::plan
