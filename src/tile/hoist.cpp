// Moves loop-invariant operators of a tile program before its loop.
//
//   loop: S += (q / rms(q)) K_i     q is loaded once, so that its row norms and q / rms(q) are computed once
//
// Reductions, elementwise operators, and roundings to the storage type are moved. Matmuls, loads and loop-carried
// values are not.
#include <algorithm>

#include "tile/rules.hpp"

namespace zellige::plan {
namespace {

/// Returns whether node `n` may be moved before the loop if all of its operands are computed there: its kind allows
/// it, and its value does not depend on the iteration.
bool may_move(const Node& n) {
  switch (n.kind) {
    case NodeKind::reduce:
      return !n.carried;
    case NodeKind::round:
      return true;
    default:  // a mask over keys of the loop differs in each iteration
      return inlined(n.kind) && !n.view.iterates();
  }
}

}  // namespace

bool hoist(TileProgram& p, const target::Target&) {
  bool moved = false;
  for (Node& n : p.nodes)
    if (p.loop > 1 && n.section == Section::inside && may_move(n) && !n.in.empty() &&
        std::ranges::all_of(n.in, [&](int in) { return p.nodes[in].section == Section::before; }))
      n.section = Section::before, moved = true;
  return moved;
}

}  // namespace zellige::plan
