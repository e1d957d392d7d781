#include "lower/mask_ends.hpp"

#include <algorithm>

#include "graph/elementwise.hpp"
#include "graph/error.hpp"
#include "graph/reductions.hpp"
#include "tile/sections.hpp"

namespace zellige::lower {
namespace {

using graph::Image;
using tile::Node;
using tile::NodeKind;

/// A kernel's values beyond the end of the dimensions of one class.
class EndOfClass {
 public:
  EndOfClass(const tile::TileProgram& p, const SizeClasses& classes, int which, std::int64_t high)
      : p_(p), classes_(classes), which_(which), high_(high) {
    for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) images_.push_back(image(i));
  }

  /// Returns the dimension of the node's value that is of the class; -1: none.
  int dim(int node) const {
    for (int d = 0; d < static_cast<int>(p_.nodes[node].shape.size()); ++d)
      if (classes_.along(node, d) == which_) return d;
    return -1;
  }
  /// Returns what the operands of a node must be beyond the end, if the node folds the class.
  std::optional<double> wanted(int node) const {
    const Node& n = p_.nodes[node];
    if (n.kind == NodeKind::matmul) return classes_.folded(node) == which_ ? std::optional(0.0) : std::nullopt;
    if (n.kind == NodeKind::reduce && classes_.folded(node) == which_) return graph::monoid_of(n.op).identity;
    if (!iterates() || n.in.empty() || dim(n.in[0]) < 0) return std::nullopt;
    if (n.kind == NodeKind::running_max) return graph::monoids::max.identity;
    if (n.kind == NodeKind::accumulate) return graph::monoid_of(n.op).identity;
    return std::nullopt;
  }
  bool has(int node, double value) const { return dim(node) < 0 || images_[node] == graph::image(value); }
  /// Returns the tile's place along the class: the cut of a load or store.
  const tile::Cut& cut() const {
    for (int i = 0; i < static_cast<int>(p_.nodes.size()); ++i)
      for (int d = 0; tile::accesses(p_.nodes[i]) && d < p_.nodes[i].view.rank(); ++d)
        if (classes_.of_view(i, d) == which_ && tile::number_of(p_.nodes[i]) < 0) return p_.nodes[i].view.cuts[d];
    fault("{}: no tile has a dimension of class {}", p_.name, which_);
  }

 private:
  bool iterates() const {
    for (int i = 0; i < static_cast<int>(p_.nodes.size()); ++i)
      for (int d = 0; d < p_.nodes[i].view.rank(); ++d)
        if (classes_.of_view(i, d) == which_ && p_.nodes[i].view.iterates(d)) return true;
    return false;
  }
  Image in(const Node& n, std::size_t k) const { return images_[n.in[k]]; }
  Image image(int i) const {
    const Node& n = p_.nodes[i];
    if (dim(i) < 0) return Image::same;
    switch (n.kind) {
      case NodeKind::load:
        return tile::number_of(n) < 0 ? Image::zero : Image::anything;
      case NodeKind::round:
        return graph::converted(in(n, 0), n.dtype, false);
      case NodeKind::permute:
        return in(n, 0);
      case NodeKind::reduce:
        return in(n, 0) == graph::image(graph::monoid_of(n.op).identity) ? in(n, 0) : Image::anything;
      case NodeKind::accumulate:
        return n.in.size() == 1 && in(n, 0) == Image::zero && graph::monoid_of(n.op).identity == 0 ? Image::zero
                                                                                                   : Image::anything;
      case NodeKind::map:
        return map(n);
      default:
        return Image::anything;
    }
  }
  Image map(const Node& n) const {
    if (n.op == graph::OpKind::mask) {
      const bool ends = n.kept.length == high_ && dim(n.in[0]) == n.key && n.length_size >= 0;
      return ends || in(n, 0) == graph::image(n.scalar) ? graph::image(n.scalar) : Image::anything;
    }
    if (!graph::is_elementwise(n.op)) return Image::anything;
    graph::Attributes a{.scalar = n.scalar, .lo = n.lo, .hi = n.hi};
    a.dtype = n.to_dtype, a.saturate = n.saturate;
    std::vector<Image> x;
    for (std::size_t k = 0; k < n.in.size(); ++k) x.push_back(in(n, k));
    return graph::image(n.op, a, std::move(x));
  }

  const tile::TileProgram& p_;
  const SizeClasses& classes_;
  int which_;
  std::int64_t high_;
  std::vector<Image> images_;  // by node
};

/// Returns the mask of a value from the class's end on.
Node mask(const Node& value, int of, int dim, tile::Cut cut, double scalar, std::int64_t high, int size) {
  Node n{.kind = NodeKind::map, .op = graph::OpKind::mask, .in = {of}, .shape = value.shape, .dtype = value.dtype};
  if (!graph::is_integer(n.dtype)) n.dtype = graph::DType::f32;
  n.scalar = scalar, n.kept.length = high, n.length_size = size;
  n.key = dim, n.dim = dim == 0 ? static_cast<int>(n.shape.size()) - 1 : dim - 1;
  for (const std::int64_t extent : n.shape) n.view.cuts.push_back({.tile = extent, .extent = extent});
  cut.overhang = false;
  n.view.cuts[dim] = cut;
  n.name = value.name;
  return n;
}

/// Where a mask is needed: in front of an operand of a node.
struct Open {
  int reader = -1, value = -1;
  double wanted = 0;
};

/// Returns the first fold whose operand is not what leaves it unchanged beyond the end; none: there is none.
std::optional<Open> first_open(const tile::TileProgram& p, const EndOfClass& end) {
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const std::optional<double> wanted = end.wanted(i);
    const std::size_t operands = p.nodes[i].kind == NodeKind::matmul ? 2 : 1;
    for (std::size_t k = 0; wanted && k < operands; ++k) {
      Open open{i, p.nodes[i].in[k], *wanted};
      if (end.has(open.value, *wanted)) continue;
      while (p.nodes[open.value].kind == NodeKind::round) open.reader = open.value, open.value = p.nodes[open.value].in[0];
      if (p.nodes[i].kind == NodeKind::matmul && open.reader == i)
        fail("{}: rows that numbers name are multiplied along a dimension whose end is known at launch only: {}", p.name,
             p.nodes[open.value].name);
      return open;
    }
  }
  return std::nullopt;
}

}  // namespace

void mask_ends(tile::TileProgram& p, int node, int dim, int size, std::int64_t high) {
  while (true) {
    const SizeClasses classes(p);
    const EndOfClass end(p, classes, classes.of_view(node, dim), high);
    const std::optional<Open> open = first_open(p, end);
    if (!open) return;
    Node& value = p.nodes[open->value];
    if (value.kind == NodeKind::map && value.op == graph::OpKind::mask && value.scalar == open->wanted &&
        value.key == end.dim(open->value) && value.length_size < 0 && value.kept.length.value_or(high) == high) {
      value.kept.length = high, value.length_size = size;
      continue;
    }
    const Node added = mask(value, open->value, end.dim(open->value), end.cut(), open->wanted, high, size);
    int masked = -1;
    std::vector<int> now;  // by node before
    std::vector<Node> before = std::exchange(p.nodes, {});
    for (int i = 0; i < static_cast<int>(before.size()); ++i) {
      if (i == open->reader) masked = p.add(added);
      for (int& in : before[i].in) in = masked >= 0 && in == open->value ? masked : now[in];
      now.push_back(p.add(std::move(before[i])));
    }
    if (node > open->value) node = now[node];
  }
}

}  // namespace zellige::lower
