// Proves that a block graph (the operators of one thread block) with other tiles computes the same. Given the
// original graph and one in which one extent has been changed, of a grid axis or the loop, derives how each
// tile of the new graph relates to the old tiles.
//
//   relate(where, before, after, {.axis = 0});  // grid x changes; throws Error if the result would change
//
// `before` and `after` have the same operators; only tiles differ. `where` names the custom operator, for
// messages. Each tile of the new graph has one of three relations to the tiles of the old one:
//
// - same: it is the old tile.
// - parts: it is several adjacent old tiles along a dimension, or a part of one.
// - partial: it is a partial result. Only the total over blocks, over iterations or along a dimension equals that
//   of the old tiles. Along a dimension there may be several totals: with 4 `classes`, each is the total of
//   every fourth element.
//
// Elementwise functions preserve `parts`, and linear functions preserve `partial`. A matmul whose K is split
// (`parts`) gives partial results (`partial`), and an accumulator that adds all of them gives `same` again. An
// operator that is not linear in a partial result, or that rounds it, is rejected, because the roundings of the
// graph must not change. docs/explanation/retiling.md has the table.
#pragma once
#include <map>

#include "graph/where.hpp"

namespace zellige::retile {

/// The relation of a tile to those before the change. Dimensions count from the last (0), so that operands
/// of different rank align.
struct Relation {
  enum class Kind : std::uint8_t { same, parts, partial } kind = Kind::same;
  // parts: the dimension that is split; partial: the one that remains to be summed; -1: none.
  int back = -1;
  std::int64_t classes = 1;  // partial: number of separate totals along `back`, of every n-th element
  // parts: the loop iterates over them, too; partial: they must be added over iterations.
  bool loop = false;
  bool blocks = false;  // partial: they must be added over blocks
  bool operator==(const Relation&) const = default;
};

/// A tensor in global memory that changes in such a way that only totals along dimension `dim` stay the
/// same. There are `classes` separate totals, each of every `classes`-th element.
struct Summed {
  int dim = -1;
  std::int64_t classes = 1;
};

/// The change of a block graph: a grid axis, the loop, or the contents of some inputs.
struct Change {
  int axis = -1;  // grid axis 0, 1 or 2; -1: none
  bool loop = false;
  std::map<int, Summed> inputs{};  // by index into KernelOp::inputs
};

/// Compares the outputs of the block graphs `before` and `after`, which differ in their tiles; the Change says
/// which extent was changed. Returns the outputs of which only totals along a dimension are unchanged, by index
/// into KernelOp::outputs. All other outputs are the same tensors. Throws Error if an output would change in any
/// other way. The Where names the operator in messages.
std::map<int, Summed> relate(const graph::Where&, const graph::BlockGraph& before, const graph::BlockGraph& after,
                             const Change&);

}  // namespace zellige::retile
