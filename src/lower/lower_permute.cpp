// Permutes the dimensions of a tile inside a tile program without moving data: replaces the operators that compute
// the tile by permuted copies, down to the loads, which read the same memory with permuted strides.
//
// - If the tile is also read in its original order, its operators run twice.
// - A reduction is stored unpermuted, and a `permute` node reads it in the other order. The same holds for a matmul
//   if the permutation would move its rows or columns to a batch dimension.
#include <algorithm>

#include "lower/lower.hpp"
#include "lower/views.hpp"

namespace zellige::lower {
namespace {

/// Permutes a value and the operators that it is computed from by one permutation; see lower_permute().
class Permuting {
 public:
  Permuting(tile::TilePrograms& whole, tile::TileProgram& p, const std::vector<int>& dims, const target::Target& target)
      : whole_(whole), p_(p), dims_(dims), target_(target) {}

  int run(int value) {
    if (unmoved(value)) return value;
    if (const auto found = made_.find(value); found != made_.end()) return found->second;
    tile::Node n = p_.nodes[value];
    n.shape = permuted(n.shape, dims_);
    if (n.kind == tile::NodeKind::permute) {
      n.order = permuted(n.order, dims_);
      return made_[value] = p_.add(std::move(n));
    }
    if (stored(value))
      return made_[value] = p_.add(
                 {.kind = tile::NodeKind::permute, .in = {value}, .shape = n.shape, .dtype = n.dtype, .order = dims_});
    if (!n.view.empty()) n.view.cuts = permuted(n.view.cuts, dims_);
    if (n.kind == tile::NodeKind::load) n.tensor = permuted_view(whole_, n.tensor, dims_, target_);
    if (n.kind == tile::NodeKind::matmul) {
      if (swaps()) std::swap(n.in[0], n.in[1]);  // in addition to permuting each operand
    } else {
      n.dim = to(n.dim), n.key = to(n.key);
    }
    for (int& in : n.in) in = run(in);
    return made_[value] = p_.add(std::move(n));
  }

 private:
  /// Returns whether a matmul's operands A and B change places: C^T = B^T A^T. They do if the permutation makes the
  /// rows of the result its last dimension.
  bool swaps() const { return dims_.back() + 2 == static_cast<int>(dims_.size()); }
  /// Returns whether the permuted result of a matmul is a matmul of permuted operands. This holds unless the
  /// permutation moves the rows or columns to a batch dimension.
  bool multiplies() const {
    const std::size_t row = dims_.size() - 2;
    return std::min(dims_[row], dims_[row + 1]) == static_cast<int>(row);
  }

  /// Returns whether node `value` is stored unpermuted and read by a `permute` node.
  bool stored(int value) const {
    const tile::Node& n = p_.nodes[value];
    switch (n.kind) {
      case tile::NodeKind::reduce:
      case tile::NodeKind::running_max:
      case tile::NodeKind::running_diff:
        return true;
      case tile::NodeKind::matmul:
        return !multiplies();
      case tile::NodeKind::accumulate:
        return std::ranges::any_of(n.in, [&](int in) { return reaches_stored(in); });
      default:
        return false;
    }
  }
  /// Returns whether node `value`, or a node from which it is computed, is stored unpermuted.
  bool reaches_stored(int value) const {
    if (unmoved(value)) return false;
    const tile::Node& n = p_.nodes[value];
    return stored(value) || std::ranges::any_of(n.in, [&](int in) { return reaches_stored(in); });
  }

  /// Returns whether the permutation only moves dimensions of extent 1 of node `value`.
  bool unmoved(int value) const {
    const graph::Shape& s = p_.nodes[value].shape;
    for (std::size_t d = 0; d < dims_.size(); ++d)
      if (dims_[d] != static_cast<int>(d) && (s[d] != 1 || s[dims_[d]] != 1)) return false;
    return true;
  }

  /// Returns the dimension of the permuted value that was dimension `dim` of the original one.
  int to(int dim) const { return static_cast<int>(std::ranges::find(dims_, dim) - dims_.begin()); }

  tile::TilePrograms& whole_;
  tile::TileProgram& p_;
  const std::vector<int>& dims_;
  const target::Target& target_;
  std::map<int, int> made_;  // by node: its permuted copy
};

}  // namespace

int lower_permute(tile::TilePrograms& whole, tile::TileProgram& p, int value, const std::vector<int>& dims,
                  const target::Target& target) {
  return Permuting(whole, p, dims, target).run(value);
}

}  // namespace zellige::lower
