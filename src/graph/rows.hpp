// Rows of a tensor that integers name: an embedding, the pages of a cache, and what is written into one.
//
//   gather: y[i, ...] = x[numbers[i], ...]       scatter: y is x, but y[numbers[i], ...] = updates[i, ...]
//   slice_scatter: y is x, but along `dim` from `start` on it is another tensor
//
// A number of no row is an Error here. Kernels take the nearest row there is, so that they never leave the tensor.
#pragma once
#include "graph/evaluate.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

bool names_rows(OpKind);
/// Which operand of these, or of a mask, holds the integers; -1: none.
int number_operand(OpKind);

std::vector<Shape> rows_shapes(const Where&, OpKind, const Attributes&, const std::vector<Shape>& operands);
void evaluate_rows(OpKind, const Attributes&, const std::vector<Operand>&, const Result&);

/// How random integers of an input must be drawn so that they name rows, or are lengths: below `bound` (0: they are neither),
/// each once. What is given must be below `rows` (0: anything, as lengths may be).
struct Numbers {
  std::int64_t bound = 0, rows = 0;
  bool distinct = false;
};
/// By input, seen through views, concat and split.
std::vector<Numbers> drawn_numbers(const KernelGraph&);

}  // namespace zellige::graph
