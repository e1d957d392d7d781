// Operators that address rows by integer indices: embeddings, pages of a cache, and writes into one.
//
//   gather: y[i, ...] = x[numbers[i], ...]       scatter: y is x, but y[numbers[i], ...] = updates[i, ...]
//   slice_scatter: y is x, but along `dim` from `start` on it is another tensor
//
// An index out of range is an Error here. Kernels clamp it to the nearest row, so that they never access
// memory outside the tensor.
#pragma once
#include "graph/evaluate.hpp"
#include "graph/where.hpp"

namespace zellige::graph {

bool names_rows(OpKind);
/// Index of the operand of these operators, or of a mask, with the integers; -1: none.
int number_operand(OpKind);

std::vector<Shape> rows_shapes(const Where&, OpKind, const Attributes&, const std::vector<Shape>& operands);
void evaluate_rows(OpKind, const Attributes&, const std::vector<Operand>&, const Result&);

/// Constraints on an input's random integers, to be valid row indices or lengths: below `bound` (0: they
/// are neither), and distinct if required. Given integers must be below `rows` (0: unlimited, as for
/// lengths).
struct Numbers {
  std::int64_t bound = 0, rows = 0;
  bool distinct = false;
};
/// Per input, traced through views, concat and split.
std::vector<Numbers> drawn_numbers(const KernelGraph&);

}  // namespace zellige::graph
