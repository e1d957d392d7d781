// The operands of a matmul as matrices: a vector on the left is a row, one on the right a column, and the
// result drops the dimension added.
//
//   const Matrices m = matrices({8, 5}, {5});  // m.a (8, 5), m.b (5, 1), m.product (8, 1)
//   without_vectors(m.product, {8, 5}, {5})    // (8)
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Matrices {
  Shape a, b, product;  // batches broadcast
};

/// Precondition: infer_shapes has accepted the operands.
Matrices matrices(const Shape& a, const Shape& b);

Shape as_left(const Shape& a);
Shape as_right(const Shape& b);

/// Shape of the result without the added dimensions; (1) for two vectors.
Shape without_vectors(Shape product, const Shape& a, const Shape& b);

}  // namespace zellige::graph
