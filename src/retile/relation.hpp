// What becomes of every tile of a block graph when one of its extents changes: the proof that a retiled graph
// computes the same.
//
//   Relations r = relate(where, before, after, {.axis = 0});       // the grid's x; throws Error where the meaning would change
//
// `before` and `after` have the same operators; only tiles differ. A tile of the new graph is, to those of the old one,
//
//   same    the same tile
//   parts   several old tiles side by side along a dimension, or a part of one
//   sums    something whose sum over blocks, over iterations, or along a dimension (of every n-th element, for each n that
//           divides `classes`) is what it was: what a reduction split otherwise leaves
//
// Elementwise functions keep `parts`, linear ones `sums`; a product whose K is in parts gives sums, an accumulator that adds over
// all of them gives the same again. What rounds or bends a sum is refused: a stated rounding of a partial sum is part of
// the meaning. docs/explanation/retiling.md has the table.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "graph/graph.hpp"
#include "graph/where.hpp"

namespace zellige::retile {

/// Of one tile. Dimensions are counted from the last: operands of different rank meet there.
struct Relation {
  enum class Kind : std::uint8_t { same, parts, sums } kind = Kind::same;
  int back = -1;  // parts: along which dimension; sums: along which one they must be summed; -1: none
  std::int64_t classes = 1;  // sums along `back`
  bool loop = false;         // parts: the loop takes them, too; sums: over iterations
  bool blocks = false;       // sums: over blocks
  bool operator==(const Relation&) const = default;
};

/// A kernel-level tensor of which only sums along a dimension are what they were.
struct Summed {
  int dim = -1;
  std::int64_t classes = 1;
};

/// What changes: one axis of the grid, the loop, or what some inputs hold.
struct Change {
  int axis = -1;  // 0, 1, 2
  bool loop = false;
  std::map<int, Summed> inputs{};  // by index into KernelOp::inputs
};

/// By index into KernelOp::outputs: those that are no longer the same tensor. Throws Error where a value would not be what it was.
std::map<int, Summed> relate(const graph::Where&, const graph::BlockGraph& before,
                             const graph::BlockGraph& after, const Change&);

}  // namespace zellige::retile
