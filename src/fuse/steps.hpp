// A group of operators as the steps it is made of: elementwise functions, products, sums and maxima, each with its operands.
//
//   Steps s = steps_of(graph, {0, 1, 3});      // rms_norm, mul, matmul: square, sum, mul_scalar, add, sqrt, div, mul, matmul
//
// Composed operators are taken apart (graph/compose.hpp), but for rotary embeddings. All dimensions are kept: what a sum leaves of one
// is 1, also where the graph leaves it out.
#pragma once
#include <map>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::fuse {

using graph::Attributes;
using graph::OpKind;
using graph::Shape;

struct Value {
  Shape shape;
  graph::DType dtype = graph::DType::f16;
  int tensor = -1;      // of the graph, where it is one
  bool loaded = false;  // made outside of the group
};

struct Step {
  OpKind kind{};
  Attributes attributes;
  std::vector<int> inputs;
  int output = -1;
};

/// A part of an output that is a tensor of the graph: from start up to, not including, end along a dimension.
struct Slice {
  int tensor = -1;
  int dim = -1;
  std::int64_t start = 0, end = 0;
};

struct Steps {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<int> outputs;  // values that somebody outside reads, or the caller gets
  std::map<int, std::vector<Slice>>
      slices{};  // by output of which nothing but these is read, along one dimension
};

/// A sum or a maximum along `dim`, which stays as 1.
bool is_reduction(OpKind);

/// May the operator be part of a group?
bool fusable(const graph::KernelGraph&, int op);

/// Whether each reader of a tensor from outside sees a value of its own, whose dimensions run for themselves.
enum class Readers : bool { together, apart };

/// Of operators in the graph's order; a concatenation is no step, and what it makes is loaded. Throws Error where a reader in the group needs a dimension that was left out.
Steps steps_of(const graph::KernelGraph&, const std::vector<int>& ops, Readers = Readers::together);

}  // namespace zellige::fuse
