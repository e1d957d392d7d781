// Defines the operators that address rows by integer index: embeddings, paged caches, and writes into a cache.
//
//   gather          y[i, ...] = x[numbers[i], ...], where `numbers` holds row indices
//   scatter         y is x, except that y[numbers[i], ...] = updates[i, ...]
//   slice_scatter   y is x, except that another tensor replaces the elements from `start` on along `dim`
//
// An index out of range throws Error here. Kernels clamp it to the nearest row, so that they never access
// memory outside the tensor.
#pragma once
#include "graph/where.hpp"

namespace zellige::graph {

/// Returns whether the operator is gather, scatter or slice_scatter.
bool names_rows(OpKind);
/// Returns the position, in an operator's list of operands, of the operand that holds integers: row indices,
/// the start of slice_scatter, or a mask's lengths. Returns -1 for operators without such an operand.
int number_operand(OpKind);

/// Returns the shape of the one result of gather, scatter or slice_scatter, of constants or of extents that depend on sizes: S is
/// Shape or SymbolicShape. `dim` and `start` are attributes. Throws Error if the operands do not fit.
template <class S>
std::vector<S> rows_shapes(const Where&, OpKind, int dim, const typename S::value_type& start,
                           const std::vector<S>& operands);

/// Constraints on a graph input's integers, if it holds row indices or lengths. Random integers must be in
/// [0, bound), and distinct if `distinct`; bound = 0: no constraint. Integers that the caller gives must be
/// below `rows`; 0: no constraint, as for lengths.
struct Numbers {
  std::int64_t bound = 0, rows = 0;
  bool distinct = false;
};
/// Returns the constraints on the integers of each graph input. The constraints come from the operators that
/// read the input as row indices or lengths, directly or through views, concat and split.
std::vector<Numbers> drawn_numbers(const KernelGraph&);

}  // namespace zellige::graph
