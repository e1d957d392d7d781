#include "plan/leaves.hpp"

#include <set>
#include <utility>

namespace zellige::plan {
namespace {

/// In the order of a walk from operand to operand that comes to each value once at its own coordinates and once at others.
struct Collection {
  const BlockProgram& p;
  const Shape& domain;
  std::set<std::pair<int, bool>> seen{};
  std::vector<Leaf> leaves{};

  void visit(int node, bool identity) {
    std::vector<std::pair<int, bool>> open{{node, identity}};
    while (!open.empty()) {
      const auto [at, same] = open.back();
      open.pop_back();
      const Node& n = p.nodes[at];
      const bool own = same && (inlined(n.kind) || n.shape == domain);
      if (!seen.insert({at, own}).second) continue;
      if (!inlined(n.kind))
        leaves.push_back({at, own});
      else
        for (auto in = n.in.rbegin(); in != n.in.rend(); ++in)
          open.push_back({*in, own && n.kind == NodeKind::map && p.nodes[*in].shape == domain});
    }
  }
};

}  // namespace

std::vector<Leaf> leaves(const BlockProgram& program, int node, const Shape& domain) {
  Collection all{program, domain};
  all.visit(node, true);
  return std::move(all.leaves);
}

}  // namespace zellige::plan
