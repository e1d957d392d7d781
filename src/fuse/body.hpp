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
#include <string>

#include "fuse/axes.hpp"

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
};

struct Body {
  graph::BlockGraph block;
  std::vector<int> loads;   // tensors of the graph
  std::vector<int> stores;  // values of the steps
};

/// Throws Error that says which step reads what is not there yet.
Body body_of(const graph::KernelGraph&, const Steps&, const Axes&, const Tiles&);

}  // namespace zellige::fuse
