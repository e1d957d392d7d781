#include "tile/open_folds.hpp"

#include <optional>

#include "graph/elementwise.hpp"
#include "graph/error.hpp"
#include "graph/reductions.hpp"

namespace zellige::tile {
namespace {

using graph::Image;

/// A kernel's values beyond the end of the dimensions of one class.
class EndOfClass {
 public:
  EndOfClass(const TileProgram& p, const SizeClasses& classes, int which, std::int64_t high)
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
  /// Returns whether several dimensions of the node's value are of the class, as of x times x transposed.
  bool has_two(int node) const {
    int count = 0;
    for (int d = 0; d < static_cast<int>(p_.nodes[node].shape.size()); ++d) count += classes_.along(node, d) == which_;
    return count > 1;
  }
  bool has(int node, double value) const { return dim(node) < 0 || images_[node] == graph::image(value); }

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
    if (has_two(i)) return Image::anything;  // no mask has two ends
    switch (n.kind) {
      case NodeKind::load:
        return number_of(n) < 0 ? Image::zero : Image::anything;
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

  const TileProgram& p_;
  const SizeClasses& classes_;
  int which_;
  std::int64_t high_;
  std::vector<Image> images_;  // by node
};

}  // namespace

std::optional<OpenFold> open_fold(const TileProgram& p, const SizeClasses& classes, int which, std::int64_t high) {
  const EndOfClass end(p, classes, which, high);
  for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
    const std::optional<double> wanted = end.wanted(i);
    const std::size_t operands = p.nodes[i].kind == NodeKind::matmul ? 2 : 1;
    for (std::size_t k = 0; wanted && k < operands; ++k) {
      OpenFold open{.fold = i, .reader = i, .value = p.nodes[i].in[k], .neutral = *wanted};
      if (end.has(open.value, *wanted)) continue;
      while (p.nodes[open.value].kind == NodeKind::round)
        open.reader = open.value, open.value = p.nodes[open.value].in[0];
      open.dim = end.has_two(open.value) ? -1 : end.dim(open.value);
      return open;
    }
  }
  return std::nullopt;
}

}  // namespace zellige::tile
