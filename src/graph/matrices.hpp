// Converts the operand shapes of a matmul to matrix shapes: a vector on the left becomes a row, a vector on the
// right a column. Then removes the added dimensions from the shape of the product.
//
//   const Matrices m = matrices({8, 5}, {5});  // m.a (8, 5), m.b (5, 1), m.product (8, 1)
//   without_vectors(m.product, {8, 5}, {5})    // (8)
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

/// Shapes of a matmul's operands and result, each with at least two dimensions.
struct MatmulShapes {
  Shape a, b, product;  // batches broadcast
};

/// Returns the shapes of a matmul's operands and product as matrices. Precondition: infer_shapes() accepts
/// the operands.
MatmulShapes matrices(const Shape& a, const Shape& b);

/// Returns the product's shape without the dimensions that matrices() added to vector operands. `a`, `b`: the
/// original shapes. For two vectors, returns (1).
Shape without_vectors(Shape product, const Shape& a, const Shape& b);

}  // namespace zellige::graph
