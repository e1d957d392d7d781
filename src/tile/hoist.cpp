#include "tile/hoist.hpp"

#include <algorithm>

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

void hoist(TileProgram& p) {
  if (p.loop == 1) return;
  for (Node& n : p.nodes)
    if (n.section == Section::inside && may_move(n) && !n.in.empty() &&
        std::ranges::all_of(n.in, [&](int in) { return p.nodes[in].section == Section::before; }))
      n.section = Section::before;
}

}  // namespace zellige::plan
