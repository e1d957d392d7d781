#include "kernel/leaves.hpp"

#include <utility>

namespace zellige::kernel {

At narrowed(At at, const Shape& operand, const Shape& map) {
  if (operand == map || at == At::elsewhere) return at;
  Shape row = map;
  if (!row.empty()) row.back() = 1;
  return operand == row && at != At::pair ? At::row : At::elsewhere;
}

At rotated(At at, const tile::Node& rotate, bool itself) {
  if (rotate.dim + 3 != static_cast<int>(rotate.shape.size()) || (at != At::own && at != At::pair))
    return At::elsewhere;
  return itself == (at == At::own) ? At::own : At::pair;
}

std::vector<Leaf> leaves(const tile::TileProgram& program, int node, const Shape& domain, const Kernel* kernel) {
  std::vector<Leaf> all;
  std::set<std::pair<int, At>> seen;  // each node once per coordinate at which it is read
  std::vector<std::pair<int, At>> open{{node, narrowed(At::own, program.nodes[node].shape, domain)}};
  while (!open.empty()) {
    const auto [id, at] = open.back();
    open.pop_back();
    const tile::Node& n = program.nodes[id];
    if (!seen.insert({id, at}).second) continue;
    if (!tile::inlined(n.kind) || (kernel && kernel->rmem_of(id) >= 0 && id != node)) {
      all.push_back({id, at});
      continue;
    }
    for (std::size_t i = n.in.size(); i-- > 0;) {
      const int in = n.in[i];
      const bool rotates = n.kind == tile::NodeKind::rotate && i == 0;
      if (rotates) open.push_back({in, rotated(at, n, false)});
      open.push_back({in, rotates                         ? rotated(at, n, true)
                          : n.kind == tile::NodeKind::map ? narrowed(at, program.nodes[in].shape, n.shape)
                                                          : At::elsewhere});
    }
  }
  return all;
}

std::set<int> read_in_place(const Kernel& k, const Work& w) {
  const tile::Node& n = k.program.nodes[w.node];
  using enum WorkKind;
  std::vector<int> evaluated;  // none: the work copies tiles, or moves what is in registers
  if (w.kind == to_registers || w.kind == to_lines)
    evaluated = {w.node};
  else if (w.kind == rescale)
    evaluated = {rescaled_by(n)};
  else if (w.kind == mma || w.kind == reduce)
    evaluated.assign(n.in.begin(), n.in.begin() + (n.kind == tile::NodeKind::matmul ? 2 : 1));
  else if (w.kind == accumulate)
    evaluated = n.in;
  else if (n.kind == tile::NodeKind::round ||
           (n.kind == tile::NodeKind::store && (w.kind == to_shared || w.tensor < 0)))
    evaluated = {n.in[0]};
  std::set<int> loads;
  for (int x : evaluated) {
    // An operand that the matmul's step widens (kernel/widened.hpp).
    if (w.kind == mma && k.program.nodes[x].kind == tile::NodeKind::round && k.tensor_of(x) < 0 && k.rmem_of(x) < 0)
      x = k.program.nodes[x].in[0];
    if (x != w.node && k.rmem_of(x) >= 0) continue;
    for (const Leaf& leaf : leaves(k.program, x, {}, &k))
      if (k.in_place(leaf.node) && (leaf.node == w.node || k.rmem_of(leaf.node) < 0)) loads.insert(leaf.node);
  }
  return loads;
}

}  // namespace zellige::kernel
