// Proves that a retiled block graph computes the same: relates every tile after the change of one extent to
// those before it.
//
//   Relations r = relate(where, before, after, {.axis = 0});  // grid x; throws Error if the meaning changes
//
// `before` and `after` have the same operators; only tiles differ. A tile of the new graph is, relative to
// the old ones,
//
//   same    the same tile
//   parts   several adjacent old tiles along a dimension, or a part of one
//   sums    partial results: its sum over blocks, over iterations, or along a dimension (of every n-th element,
//           for each n that divides `classes`) equals the old tile's, as a reduction that is split otherwise
//           leaves it
//
// Elementwise functions preserve `parts`, linear ones `sums`; a matmul whose K is in parts gives partial
// results, and an accumulator that adds all of them gives `same` again. An operator that rounds a sum or is
// not linear in it is rejected: an explicit rounding of a partial sum is part of the meaning.
// docs/explanation/retiling.md has the table.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::retile {

/// The relation of one tile. Dimensions count from the last, so that operands of different rank align.
struct Relation {
  enum class Kind : std::uint8_t { same, parts, sums } kind = Kind::same;
  int back = -1;             // parts: along this dimension; sums: to be summed along this one; -1: none
  std::int64_t classes = 1;  // number of accumulators along `back`
  bool loop = false;         // parts: the loop iterates over them, too; sums: over iterations
  bool blocks = false;       // sums: over blocks
  bool operator==(const Relation&) const = default;
};

/// A kernel-level tensor of which only totals along a dimension are unchanged.
struct Summed {
  int dim = -1;
  std::int64_t classes = 1;
};

/// The change: one axis of the grid, the loop, or what some inputs contain.
struct Change {
  int axis = -1;  // 0, 1, 2
  bool loop = false;
  std::map<int, Summed> inputs{};  // by index into KernelOp::inputs
};

/// Returns the outputs that are no longer the same tensor, by index into KernelOp::outputs. Throws Error if a
/// value would change.
std::map<int, Summed> relate(const graph::Where&, const graph::BlockGraph& before,
                             const graph::BlockGraph& after, const Change&);

}  // namespace zellige::retile
