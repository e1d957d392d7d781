// What the operands of a matmul are as matrices: a vector on the left is a row, one on the right a column, and the result lacks
// the dimension that it got so.
//
//   const Matrices m = matrices({8, 5}, {5});   // m.a (8, 5), m.b (5, 1), m.product (8, 1); without_vectors: (8)
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Matrices {
  Shape a, b, product;  // batches broadcast
};

/// Of operands that infer_shapes has accepted.
Matrices matrices(const Shape& a, const Shape& b);

Shape as_left(const Shape& a);
Shape as_right(const Shape& b);

/// The result that readers see: of two vectors it has one element.
Shape without_vectors(Shape product, const Shape& a, const Shape& b);

}  // namespace zellige::graph
