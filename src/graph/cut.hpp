// What one part of a tensor takes: a graph like the one it is cut from, smaller, that computes just that part.
//
//   Cut c = cut(g, Y, {{128, 0}, {128, 128}}, {});       // rows 128 to 255, columns 0 to 127 of Y
//   c.inputs[0]                                          // tensor X of g, rows 128 to 255: what input 0 of c.graph must be
//   run(c.graph, arrays).tensors[c.graph.outputs[0]]     // exactly that part of what run(g, ...) gives
//
// It walks the graph backwards, an operator at a time, by kind: an elementwise operator needs the same part of its operands, a
// product rows and columns, a reduction the whole of its dimension, a custom operator the blocks that write the part. What is not
// known here needs all of its operands. So the reference, its errors and the judge hold for a part as they do for the whole.
#pragma once
#include "graph/region.hpp"

namespace zellige::graph {

struct Cut {
  struct Part {
    int tensor = -1;  // index into the whole graph's tensors
    Region region;
  };
  KernelGraph graph;         // its one output is the part
  std::vector<Part> inputs;  // by input of `graph`
};

/// `known`: by tensor, whether its values are at hand beside the graph's inputs; empty: none is. `tensor` itself is computed in
/// any case; it is not an input of the graph, which must be valid.
Cut cut(const KernelGraph&, int tensor, const Region&, const std::vector<bool>& known = {});

/// How long the reference takes, in operations of a matrix product: 2 a multiply-add, `work_an_element` an element otherwise, those
/// of the inputs among them, which are drawn.
double work(const KernelGraph&);
constexpr double work_an_element = 200;

/// The float64 values that the reference holds at once, in bytes.
double bytes(const KernelGraph&);

}  // namespace zellige::graph
