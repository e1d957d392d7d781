// Extracts the subgraph that computes one part of a tensor.
//
//   Cut c = cut(g, Y, {{128, 0}, {128, 128}}, {});       // rows 128 to 255, columns 0 to 127 of Y
//   c.inputs[0]  // tensor X of g, rows 128 to 255: what input 0 of c.graph must be
//   run(c.graph, arrays).tensors[c.graph.outputs[0]]     // exactly that part of what run(g, ...) gives
//
// Traverses the graph backwards, one operator at a time, by kind: an elementwise operator needs the same part
// of its operands, a matmul needs rows and columns, a reduction needs its whole dimension, a custom operator
// needs the blocks that write the part. Any other operator needs all of its operands. So the reference, its
// errors and the judge apply to a part as they do to the whole.
#pragma once
#include "graph/region.hpp"

namespace zellige::graph {

struct Cut {
  struct Part {
    int tensor = -1;  // index into the whole graph's tensors
    Region region;
  };
  KernelGraph graph;         // its one output is the part
  std::vector<Part> inputs;  // per input of `graph`
};

/// `known`: per tensor, whether its values are available in addition to the graph's inputs; empty: none is.
/// `tensor` itself is always computed and is not an input of the result. The graph must be valid.
Cut cut(const KernelGraph&, int tensor, const Region&, const std::vector<bool>& known = {});

/// Cost of running the reference, in matmul operations: 2 per multiply-add, `work_an_element` per element of
/// other operators and of the random inputs.
double work(const KernelGraph&);
constexpr double work_an_element = 200;

/// Bytes of the float64 values that the reference keeps at a time.
double bytes(const KernelGraph&);

}  // namespace zellige::graph
