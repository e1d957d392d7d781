// Cuts a segment after a collective in two: the operators by which the collective's result can be taken further in the kernel
// that reads it, such as a residual and a norm, and the rest.
//
//   const TailCut cut = cut_tail(graph, segment, a);   // a = all_reduce(x)
//   cut.tail    // reads a, and what is there besides; no operators: there is no such tail
//   cut.rest    // reads what the tail makes; no operators: the tail is all
#pragma once
#include <optional>

#include "ranks/segments.hpp"

namespace zellige::ranks {

struct TailCut {
  Segment tail, rest;
};

/// Returns the tail of `s` after the tensor `result` of the graph, and the rest. The tail has elementwise operators, norms
/// and reductions of rows, on tensors of the result's shape and values by row of them. `needed_later`: the result itself, too,
/// is an output of the tail.
TailCut cut_tail(const graph::KernelGraph&, const Segment& s, int result, bool needed_later);

/// Returns as the tail the products that have the tensor `result` of the graph, which ranks gather, as their first operand, and elementwise
/// operators on what they make. There is no tail if something else reads the result, too.
TailCut cut_product(const graph::KernelGraph&, const Segment& s, int result);

/// Returns the tail with a sum (or maximum) of `ranks` tensors in front of it, its first inputs, in place of the result: one graph
/// without collectives. Without a tail it is the sum alone.
graph::KernelGraph after_sum(const graph::KernelGraph&, const Segment& tail, const graph::KernelOp& collective,
                             int ranks);

/// Returns a tail of cut_product() with the gathered result as its first input.
graph::KernelGraph after_gathered(const graph::KernelGraph&, const Segment& tail, const graph::KernelOp& collective);

/// Returns after_gathered() with a dimension of ranks: the gathered tensor, what is computed of it, and operands of the same
/// number of rows have it as their first. In memory there is a gap after the gathered rows of each rank.
/// nullopt if not all of them are matrices, or one has two tasks.
std::optional<graph::KernelGraph> with_rank_dimension(graph::KernelGraph after_gathered, int ranks);

/// Returns the tail with the result as its first input; without a tail, a copy of it.
graph::KernelGraph after_made_sum(const graph::KernelGraph&, const Segment& tail, const graph::KernelOp& collective);

}  // namespace zellige::ranks
