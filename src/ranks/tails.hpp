// Cuts a segment after a collective in two: the operators by which the collective's result can be taken further in the kernel
// that reads it, such as a residual and a norm, and the rest.
//
//   const TailCut cut = cut_tail(graph, segment, a);   // a = all_reduce(x)
//   cut.tail    // reads a, and what is there besides; no operators: there is no such tail
//   cut.rest    // reads what the tail makes; no operators: the tail is all
#pragma once
#include "ranks/segments.hpp"

namespace zellige::ranks {

struct TailCut {
  Segment tail, rest;
};

/// Returns the tail of `s` after the tensor `result` of the graph, and the rest. The tail has elementwise operators and norms on
/// tensors of the result's shape. `needed_later`: the result itself, too, is an output of the tail.
TailCut cut_tail(const graph::KernelGraph&, const Segment& s, int result, bool needed_later);

/// Returns the tail with a sum (or maximum) of `ranks` tensors in front of it, its first inputs, in place of the result: one graph
/// without collectives. Without a tail it is the sum alone.
graph::KernelGraph after_sum(const graph::KernelGraph&, const Segment& tail, const graph::KernelOp& collective,
                             int ranks);

/// Returns the tail with the result as its first input; without a tail, a copy of it.
graph::KernelGraph after_made_sum(const graph::KernelGraph&, const Segment& tail, const graph::KernelOp& collective);

}  // namespace zellige::ranks
