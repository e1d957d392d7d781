#include "selection/loop_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "graph/elementwise.hpp"
#include "graph/reductions.hpp"
#include "tile/sections.hpp"

namespace zellige::selection {
namespace {

using graph::Image;

/// Evaluates the loop's body abstractly for an iteration in which the node `mask` masks every element.
class MaskedBody {
 public:
  MaskedBody(const tile::TileProgram& p, int mask) : p_(p), sections_(p), left_(p.nodes.size(), Image::anything) {
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (sections_.inside(static_cast<int>(i)))
        left_[i] = static_cast<int>(i) == mask ? Image::lowest : of(p.nodes[i]);
  }

  /// Returns whether a fully masked iteration leaves every loop state (accumulator or running maximum) that has a
  /// reader unchanged.
  bool unchanged() const {
    bool all = true;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      const tile::Node& n = p_.nodes[i];
      const bool state = tile::over_loop(n) || n.kind == tile::NodeKind::running_max;
      if (state && !p_.consumers(static_cast<int>(i)).empty()) all = all && left_[i] == Image::unchanged;
    }
    return all;
  }

 private:
  Image in(const tile::Node& n, std::size_t i) const { return left_[n.in[i]]; }

  /// Returns whether what a reduction joins over all iterations stays the same when the masked iteration is skipped, in
  /// which the elements of its operand are `x`.
  static bool neutral(Image x, const graph::Monoid& of) {
    return x == graph::image(of.identity) || (x == Image::floor && &of == &graph::monoids::max);
  }

  Image of(const tile::Node& n) const {
    switch (n.kind) {
      case tile::NodeKind::map:
        return map(n);
      case tile::NodeKind::round:
        return graph::converted(in(n, 0), n.dtype, false);
      case tile::NodeKind::reduce:
        return !neutral(in(n, 0), graph::monoid_of(n.op)) ? Image::anything : n.carried ? Image::unchanged : in(n, 0);
      case tile::NodeKind::running_max:  // is never below its initial value, the lowest finite number
        return neutral(in(n, 0), graph::monoids::max) ? Image::unchanged : Image::anything;
      case tile::NodeKind::running_diff:
        return in(n, 0) == Image::unchanged ? Image::zero : Image::anything;
      case tile::NodeKind::matmul: {
        const bool kept = kernel::rescaled_by(n) < 0 || left_[kernel::rescaled_by(n)] == Image::one;
        return in(n, 0) != Image::zero || !kept ? Image::anything : n.carried ? Image::unchanged : Image::zero;
      }
      case tile::NodeKind::accumulate: {
        if (n.in.empty()) return Image::anything;
        const bool kept = !graph::rescales(n.op) || in(n, 1) == Image::one;
        return kept && neutral(in(n, 0), graph::monoid_of(n.op)) ? Image::unchanged : Image::anything;
      }
      default:
        return Image::anything;
    }
  }

  Image map(const tile::Node& n) const {
    if (n.op == graph::OpKind::mask)  // the next one of a row of masks
      return in(n, 0) == Image::lowest && std::isinf(n.scalar) && n.scalar < 0 ? Image::lowest : Image::anything;
    if (!graph::is_elementwise(n.op)) return Image::anything;
    graph::Attributes a{.scalar = n.scalar, .lo = n.lo, .hi = n.hi};
    a.dtype = n.to_dtype, a.saturate = n.saturate;
    std::vector<Image> x;
    for (int i : n.in) {
      // A maximum needs no finite operand, only one that every iteration has.
      const bool same = n.op == graph::OpKind::maximum && sections_.of(i) == tile::Section::before;
      x.push_back(same ? Image::same : left_[i]);
    }
    return graph::image(n.op, a, std::move(x));
  }

  const tile::TileProgram& p_;
  tile::Sections sections_;
  std::vector<Image> left_;  // by node: what every element of it is in the masked iteration
};

/// Returns the operand of a mask that has one index for each block, or one for each row of its tile, before the loop; -1: none.
int indices_of(const tile::TileProgram& p, const tile::Node& mask) {
  if (mask.in.size() < 2) return -1;
  const tile::Node& n = p.nodes[mask.in[1]];
  if (n.kind != tile::NodeKind::load || n.dtype != graph::DType::int32 || !n.in.empty() || n.view.iterates()) return -1;
  const std::size_t skip = mask.shape.size() - n.shape.size();
  for (std::size_t d = 0; d < n.shape.size(); ++d)
    if (n.shape[d] == 1 ? n.view.predicated(static_cast<int>(d)) : d + skip != static_cast<std::size_t>(mask.dim))
      return -1;
  return mask.in[1];
}

/// Returns the loop bounds under the mask number `i`; nullopt if it is none, or lets blocks skip no iteration.
std::optional<kernel::MaskedLoopBounds> bounds_of(const tile::TileProgram& p, std::size_t i) {
  const tile::Node& n = p.nodes[i];
  if (n.kind != tile::NodeKind::map || n.op != graph::OpKind::mask) return {};
  const tile::TileView& v = n.view;
  const int indices = n.kept.triu ? -1 : indices_of(p, n);
  const int lengths = n.kept.first ? -1 : indices, starts = n.kept.first && v.axis(n.key) < 0 ? indices : -1;
  const bool reads = lengths >= 0 || starts >= 0, by_rows = v.axis(n.key) < 0 && v.axis(n.dim) >= 0;
  const bool walks =
      v.iterates(n.key) && v.origin(n.key) == 0 && !v.iterates(n.dim) && (by_rows || (reads && !n.kept.tril));
  const bool alone = !n.kept.triu && n.in.size() == 1;
  if (!walks || !std::isinf(n.scalar) || n.scalar > 0) return {};
  const std::int64_t each = v.tile(n.key), every = p.loop * each;
  kernel::MaskedLoopBounds t{v.along(n.dim, p),   every,   each,  {}, {}, n.kept.length,
                             static_cast<int>(i), lengths, starts};
  if (n.kept.tril)  // the last key that the tile's last row keeps, relative to its first row
    t.last = n.shape[n.dim] - 1 + *n.kept.tril;
  else if (!reads && (!alone || !n.kept.length))
    return {};
  if (alone) t.all = n.kept.tril ? *n.kept.tril + 1 : every;
  if (n.kept.triu) t.from = *n.kept.triu;
  if (t.last < 0) return {};
  // A block whose rows keep nothing would run no iteration.
  bool some = true;
  for (std::int64_t b = 0; b < t.row_blocks(p); ++b) some = some && t.of(b, p.loop) > 0;
  if (some && ((!n.kept.tril && !reads) || MaskedBody(p, static_cast<int>(i)).unchanged())) return t;
  return {};
}

}  // namespace

std::optional<kernel::MaskedLoopBounds> masked_loop_bounds(const kernel::Kernel& kernel) {
  const tile::TileProgram& p = kernel.program;
  std::optional<kernel::MaskedLoopBounds> t;
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    const std::optional<kernel::MaskedLoopBounds> other = bounds_of(p, i);
    if (!t) {
      t = other;
    } else if (other && (t->starts < 0) != (other->starts < 0) && !t->from && !other->from && t->rows == other->rows &&
               t->each == other->each) {  // one has the rows' first keys
      if (t->lengths < 0) t->lengths = other->lengths;
      if (t->last == p.loop * t->each) t->last = other->last, t->mask = other->mask;
      t->starts = std::max(t->starts, other->starts);
      t->all.reset(), t->end.reset();  // the one leaves what the other masks
    }
  }
  return t;
}

}  // namespace zellige::selection
