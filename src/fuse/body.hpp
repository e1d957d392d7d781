// Builds the block graph of a group: what one thread block computes for its tile.
//
// Grid axes split what no step reduces over; the loop runs along one axis that is reduced over. A step on a
// tile that the loop loads runs inside the loop; additions, maxima and matmuls over the loop axis become
// accumulators, and their users run after the loop. If a step inside the loop reads a value that is known
// only after it, the step is moved out by one of these laws, or the group is rejected:
//
//   factors    sum_i (x_i h) = (sum_i x_i) h, of a matmul too: h is deferred while only linear steps follow. So a norm's
//              scale passes through the matmul after it, and its sum of squares is taken in the same loop.
//   rescaling  F(x_i, m) = exp(c (x_i - m)): with the running maximum m' in place of m, what was summed before is multiplied by
//              F(., m) / F(., m') = exp(-c (m - m')) whenever the maximum moves.
//   monotone   f(max x) = max f(x): a running maximum may be clamped before it is taken.
//
// If the loop is split over blocks, steps on the loop axis that no reduction over it needs, such as a
// softmax's quotient, are left to the second kernel, which reads their operands again. So are reductions that
// need another one's result, such as a variance, if a part is one tile of rows.
#pragma once
#include <array>
#include <map>
#include <string>

#include "fuse/axes.hpp"
#include "fuse/deferred.hpp"

namespace zellige::fuse {

/// One grid dimension. Its axes are different dimensions of values that never occur in one step: heads of
/// queries and heads of keys.
struct Cut {
  std::vector<int> axes;
  std::int64_t blocks = 1;
};

struct Tiles {
  std::array<Cut, 3> grid;
  int loop_axis = -1;
  std::int64_t loop = 1;
  int threads = 128;
  // The grid dimension that splits the loop axis (split-K): each block computes partial results, and a second
  // kernel combines them. -1: none.
  int split = -1;
  // If a part is one tile: the axis that the block's loop runs along, whose result is then summed over
  // loop_axis. -1: loop_axis.
  int inner_axis = -1;
  // Axes whose last tile is partial: the extent that all tiles cover together.
  std::map<int, std::int64_t> extents{};

  /// By grid dimension, which dimension of a value it splits; -1: none.
  std::array<int, 3> map_of(const Axes&, int value) const;
  /// The shape with the value's axes extended to what the tiles cover.
  graph::Shape covered(const Axes&, int value, graph::Shape) const;
};

/// A partial result of a split loop: a float32 sum or a running maximum.
struct Partial {
  int value = -1;  // of the steps; for a maximum, its operand
  int dim = -1;    // for a maximum, the dimension; -1: a sum
  // For a sum scaled by 1 / exp(coefficient * (last maximum - maximum)): the partial of that maximum.
  int below = -1;
  double coefficient = 0;
  std::vector<Factor> factors{};  // deferred factors that the sum still lacks
  Shape shape{};                  // of the whole value
  // For a maximum: of one tile, so that it may be minus infinity; sums are scaled by it or, if it is greater,
  // by the lowest finite number.
  bool exact = false;
};

/// A stored value: a tensor of the graph, with the shape before reduced dimensions were dropped.
struct Store {
  int tensor = -1;
  Shape shape{};
};

struct Body {
  graph::BlockGraph block;
  std::vector<int> loads;         // tensors of the graph
  std::vector<Store> stores;      // empty if the loop is split
  std::vector<Partial> partials;  // what is stored if it is
  std::map<int, int> maxima;      // if it is split, by value that is a maximum: its partial
  std::map<int, int> sums;        // by value: its partial
  bool reduces_again = false;     // if it is split, whether other reductions over the axis need these results
};

/// Throws Error that names the step that reads a value not yet available. Elements out of bounds must not
/// affect the result (mask_partial_tiles.hpp).
Body body_of(const graph::KernelGraph&, const Steps&, const Axes&, const Tiles&);

}  // namespace zellige::fuse
