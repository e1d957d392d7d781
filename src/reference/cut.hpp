// Extracts the subgraph that computes a region of one tensor, so that a large program can be checked by sample.
//
//   Cut c = cut(g, Y, {{128, 0}, {128, 128}}, {});       // rows 128 to 255, columns 0 to 127 of Y
//   c.inputs[0]                                          // {X, rows 128 to 255}: the values of input 0 of c.graph
//   run(c.graph, arrays).tensors[c.graph.outputs[0]]     // equals this region of Y as run(g, ...) computes it
//
// Traverses the graph from the tensor back to the inputs. An elementwise operator needs the same region of
// its operands, a matmul needs rows and columns, a reduction needs its whole dimension. A custom operator
// needs the blocks that write the region. Any other operator needs its operands as a whole. The reference, its
// error bounds and the judge (judge.hpp) apply to the subgraph as they do to the whole graph.
#pragma once
#include "reference/region.hpp"

namespace zellige::reference {

/// A subgraph that computes a region of one tensor.
struct RegionGraph {
  /// An input of the subgraph: a region of a tensor of the whole graph.
  struct Part {
    int tensor = -1;  // index into the whole graph's tensors
    TensorRegion region;
  };
  graph::KernelGraph graph;  // has one output: the region
  std::vector<Part> inputs;  // per input of `graph`
};

/// Returns the subgraph that computes a region of `tensor` from the inputs of a valid graph. `known` says,
/// per tensor of the graph, whether the subgraph may have the tensor's values as an input, too (empty: for
/// none). `tensor` itself is computed even if it is known.
RegionGraph cut(const graph::KernelGraph&, int tensor, const TensorRegion&, const std::vector<bool>& known = {});

/// Returns the cost of running the float64 reference on a graph, in floating-point operations of a matmul (2
/// per multiply-add). An element of another operator or of an input counts as 200 (work_an_element).
double work(const graph::KernelGraph&);
constexpr double work_an_element = 200;

/// Returns the size of all tensors of the graph in float64, in bytes.
double bytes(const graph::KernelGraph&);

}  // namespace zellige::reference
