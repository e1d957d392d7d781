#include "tile/sections.hpp"

#include <algorithm>

namespace zellige::tile {
namespace {

/// Returns whether the node is evaluated in each iteration even if its operands are the same in all of them.
bool stays_inside(const Node& n) {
  return over_loop(n) || n.kind == NodeKind::running_max || n.kind == NodeKind::running_diff ||
         n.kind == NodeKind::matmul || n.view.iterates();
}

}  // namespace

std::string_view name(Section section) {
  return section == Section::before ? "before" : section == Section::inside ? "inside" : "after";
}

Sections::Sections(const TileProgram& program) : program_(&program) {
  sections_.reserve(program.nodes.size());
  for (const Node& n : program.nodes) {
    Section at = program.loop == 1 || n.kind == NodeKind::store ? Section::after
                 : stays_inside(n)                              ? Section::inside
                                                                : Section::before;
    for (int in : n.in) at = std::max(at, complete(in));
    sections_.push_back(at);
  }
}

Section Sections::complete(int node) const { return over_loop(program_->nodes[node]) ? Section::after : of(node); }

}  // namespace zellige::tile
