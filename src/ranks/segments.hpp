// Cuts a graph over ranks at its collectives: into graphs without collectives, which kernels compute, and the collectives
// between them.
//
//   for (const Segment& s : segments(g))                  // in the order of execution
//     if (s.is_collective()) ... s.collective             // y = all_reduce(x), by tensors of g
//     else                   ... compile(s.kernels)       // its inputs and outputs are the tensors s.inputs, s.outputs of g
//
// Operators come as early as their operands allow. So of several collectives that need only what is there, all follow the
// same kernels. Views, and what is computed of inputs alone, come where they are read. No fusion crosses a cut. Operators that no
// output needs are omitted.
#pragma once
#include "graph/graph.hpp"

namespace zellige::ranks {

/// Kernels without collectives, or one collective.
struct Segment {
  graph::KernelGraph kernels;        // named after the graph and the segment's number; no operators: a collective
  graph::KernelOp collective;        // its tensors are those of the whole graph
  std::vector<int> inputs, outputs;  // tensors of the whole graph, in the order of those of `kernels` or `collective`
  bool is_collective() const { return kernels.ops.empty(); }
};

/// Returns the segments of a graph in the order of execution. What goes from one segment to another is row-major, unless
/// the graph gives it strides. Throws Error if a result takes the memory of an input that a later segment reads.
/// Precondition: the graph is valid. The kernels of a segment have those of the graph's sizes that their tensors depend on.
std::vector<Segment> segments(const graph::KernelGraph&);

}  // namespace zellige::ranks
