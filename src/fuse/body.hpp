// The block graph of a group: what one block of threads does with its part.
//
// Axes of the grid cut what no step sums over; the loop runs along one axis that is summed over. A step on what the loop brings
// runs inside; sums, maxima and products over the loop's axis become accumulators, and what reads them comes after. Where something
// inside would read what is only known after the loop, it is moved out by one of these laws, or the group is refused:
//
//   factors    sum_i (x_i h) = (sum_i x_i) h, of a product too: h waits as a factor while only linear steps follow. So a norm's
//              scale passes through the product behind it, and its sum of squares is taken in the same loop.
//   rescaling  F(x_i, m) = exp(c (x_i - m)): with the running maximum m' in place of m, what was summed before is multiplied by
//              F(., m) / F(., m') = exp(-c (m - m')) whenever the maximum moves.
//   monotone   f(max x) = max f(x): a running maximum may be clamped before it is taken.
#pragma once
#include <array>
#include <map>
#include <string>

#include "fuse/axes.hpp"
#include "fuse/held.hpp"

namespace zellige::fuse {

/// How a group is cut. The axes of one cut are different dimensions of what never meets: heads of queries and heads of keys.
struct Cut {
  std::vector<int> axes;
  std::int64_t blocks = 1;
};

struct Tiles {
  std::array<Cut, 3> grid;
  int loop_axis = -1;
  std::int64_t loop = 1;
  int threads = 128;
  // Which cut is of the loop's axis: each block sums a part of it, and another kernel the parts. -1: none.
  int split = -1;
  // Where the part is one tile: which axis the block's loop runs along, up to what is then summed. -1: loop_axis.
  int inner_axis = -1;
  // Of axes whose last tile passes their end: what all tiles come to.
  std::map<int, std::int64_t> extents{};

  /// Which dimension of a value each axis of the grid cuts; -1: none.
  std::array<int, 3> map_of(const Axes&, int value) const;
  /// A shape with the value's axes as far as tiles reach.
  graph::Shape covered(const Axes&, int value, graph::Shape) const;
};

/// What each part of a split loop leaves of a value: its sum, in float32, or a running maximum.
struct Partial {
  int value = -1;  // of the steps; of a maximum, what it is taken of
  int dim = -1;    // of a maximum, which dimension; -1: a sum
  int below =
      -1;  // of a sum that is held over exp(coefficient * (last maximum - maximum)): which partial that is
  double coefficient = 0;
  std::vector<Factor> factors{};  // that the sum still waits for
  Shape shape{};                  // of the value whole
};

/// What is stored of a value: a tensor of the graph, whose shape has all dimensions.
struct Store {
  int tensor = -1;
  Shape shape{};
};

struct Body {
  graph::BlockGraph block;
  std::vector<int> loads;         // tensors of the graph
  std::vector<Store> stores;      // none where the loop is split
  std::vector<Partial> partials;  // what is stored where it is
  std::map<int, int> maxima;      // by value that is one: which partial; where it is split
  std::map<int, int> sums;        // by value: which partial
};

/// Throws Error that says which step reads what is not there yet. What lies past the end of an axis must not matter (past.hpp).
Body body_of(const graph::KernelGraph&, const Steps&, const Axes&, const Tiles&);

}  // namespace zellige::fuse
