#include "kernel/invariance.hpp"

#include <algorithm>

namespace zellige::kernel {
Invariance::Invariance(const Kernel& kernel, StepSpan steps) : program_(kernel.program) {
  const Context& c = kernel.layout_of(steps.front().work);
  loop_ = !c.row && !c.replicated() && c.steps(0) > 1;
  moves_.assign(c.rank(), false);
  for (const Mode& m : modes(values::View(c.tile)[0]))
    if (m.extent > 1) moves_[m.basis] = true;
  for (const Step& step : steps) written_.insert(step.work.tensor);
}

bool Invariance::fixed(const std::vector<TileCoordinate>& at) const {
  return std::ranges::all_of(at, [&](const TileCoordinate& p) { return p.from < 0 || !moves_[p.from]; });
}

bool Invariance::operator()(const Item& item, const std::vector<Item>& before) const {
  if (!loop_ || item.vector > 1) return false;
  if (!std::ranges::all_of(item.pieces, [&](const std::vector<TileCoordinate>& at) { return fixed(at); })) return false;
  const auto known = [&](int i) { return before[i].invariant; };
  switch (item.kind) {
    case Item::Kind::read_shared:
      return !written_.contains(item.buffer);
    case Item::Kind::read_global:  // only a guard within the loop prevents out-of-bounds reads
      return !program_.nodes[item.node].view.predicated();
    case Item::Kind::in_lines:
      return true;
    case Item::Kind::apply:
      return program_.nodes[item.node].kind == tile::NodeKind::map && std::ranges::all_of(item.in, known);
    default:
      return false;
  }
}

}  // namespace zellige::kernel
