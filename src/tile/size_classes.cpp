#include "tile/size_classes.hpp"

#include <algorithm>

#include "graph/graph.hpp"

namespace zellige::tile {

SizeClasses::SizeClasses(const TileProgram& p) : p_(p), of_value_(p.nodes.size()), of_view_(p.nodes.size()) {
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) label(i);
  join_tiles();
}

int SizeClasses::fresh() {
  same_.push_back(static_cast<int>(same_.size())), constant_.push_back(-1);
  return same_.back();
}

int SizeClasses::root(int which) const {
  while (which >= 0 && same_[which] != which) which = same_[which];
  return which;
}

int SizeClasses::join(int a, int b) {
  a = root(a), b = root(b);
  if (a < 0 || b < 0 || a == b) return std::max(a, b);
  same_[b] = a;
  if (constant_[a] < 0) constant_[a] = constant_[b];
  return a;
}

void SizeClasses::constant(int which, int node) {
  which = root(which);
  if (which >= 0 && constant_[which] < 0) constant_[which] = node;
}

int SizeClasses::along(int node, int dim) const { return root(of_value_[node][dim]); }
int SizeClasses::of_view(int node, int dim) const {
  return dim < static_cast<int>(of_view_[node].size()) ? root(of_view_[node][dim]) : -1;
}
int SizeClasses::needs_constant(int which) const { return constant_[root(which)]; }

int SizeClasses::folded(int node) const {
  const Node& n = p_.nodes[node];
  if (n.kind == NodeKind::reduce) return along(n.in[0], n.dim);
  if (n.kind == NodeKind::matmul) return along(n.in[0], static_cast<int>(p_.nodes[n.in[0]].shape.size()) - 1);
  return -1;
}

void SizeClasses::label(int node) {
  const Node& n = p_.nodes[node];
  const int rank = static_cast<int>(n.shape.size());
  std::vector<int>&of = of_value_[node], &view = of_view_[node];
  of.assign(rank, -1);
  for (int d = 0; d < n.view.rank(); ++d)
    view.push_back(n.view.along(d, p_).end() > n.view.origin(d) + 1 ? fresh() : -1);
  const int number = number_of(n);
  switch (n.kind) {
    case NodeKind::load:
      for (int d = 0; d < rank; ++d) of[d] = view[d];
      break;
    case NodeKind::store:
      for (int d = 0; d < rank; ++d) {  // each number names a row
        const bool rows = number >= 0 && d == n.dim && n.to == 1;
        of[d] = join(of_value_[n.in[0]][d], rows ? of_value_[number][d] : view[d]);
      }
      break;
    case NodeKind::matmul:
      return label_matmul(node);
    case NodeKind::permute:
      for (int d = 0; d < rank; ++d) of[d] = of_value_[n.in[0]][n.order[d]];
      return;
    default:
      for (const int in : n.in)
        for (int d = 0; d < rank && d < static_cast<int>(of_value_[in].size()); ++d)
          if (n.kind != NodeKind::concat || d != n.dim) of[d] = join(of[d], of_value_[in][d]);
      for (int d = 0; d < static_cast<int>(view.size()); ++d) join(of[d], view[d]);
  }
  if (number >= 0 && n.page > 0) {  // what the load sees is a sequence, of whose pages all have a number
    constant(of_view_[number][n.dim], node);
  } else if (number >= 0) {  // where the numbers say; all of the dimension may be
    constant(view[n.dim], node);
    of[n.dim] = n.to == 1 ? of_value_[number][n.dim] : -1;
  }
  if (n.kind == NodeKind::reduce) {
    if (n.to > 1) constant(of[n.dim], node);
    of[n.dim] = -1;
  }
  if (n.kind == NodeKind::slice || n.kind == NodeKind::concat || n.kind == NodeKind::rotate ||
      n.kind == NodeKind::unpack || n.kind == NodeKind::repeat) {
    for (const int in : n.in) constant(of_value_[in][n.dim], node);
    of[n.dim] = n.kind == NodeKind::rotate ? of_value_[n.in[0]][n.dim] : -1;
  }
}

void SizeClasses::label_matmul(int node) {
  const Node& n = p_.nodes[node];
  const int rank = static_cast<int>(n.shape.size());
  const std::vector<int>&a = of_value_[n.in[0]], &b = of_value_[n.in[1]];
  std::vector<int>& of = of_value_[node];
  for (int d = 0; d + 2 < rank; ++d) of[d] = join(a[d], b[d]);
  of[rank - 2] = a[rank - 2], of[rank - 1] = b[rank - 1];
  const int k = join(a[rank - 1], b[rank - 2]);
  if (n.window) constant(k, node);
  for (std::size_t i = 2; i < n.in.size(); ++i)
    for (int d = 0; d < rank; ++d)
      if (of_value_[n.in[i]][d] >= 0) of[d] = join(of[d], of_value_[n.in[i]][d]);
}

void SizeClasses::join_tiles() {
  struct Tiles {
    Interval along;
    bool iterates;
    int which;
  };
  std::vector<Tiles> all;
  for (int i = 0; i < static_cast<int>(p_.nodes.size()); ++i) {
    const TileView& v = p_.nodes[i].view;
    for (int d = 0; d < v.rank(); ++d) {
      const Tiles here{v.along(d, p_), v.iterates(d), of_view(i, d)};
      if (here.which < 0 || v.fixed(d)) continue;
      const auto extent = [](const Interval& along) { return along.end() - along.origin(); };
      for (const Tiles& other : all)
        if (here.iterates == other.iterates && here.along.numbered_as(other.along) &&
            extent(here.along) == extent(other.along))
          join(other.which, here.which);
      all.push_back(here);
    }
  }
}

}  // namespace zellige::tile
