// Expands a group of operators into its steps: elementwise functions, matmuls, additions and maxima, each
// with its operands.
//
//   Steps s = steps_of(graph, {0, 1, 3});      // rms_norm, mul, matmul: square, sum, mul_scalar, add, sqrt, div, mul, matmul
//
// Composed operators are decomposed (graph/compose.hpp), except rotary embeddings. All dimensions are kept: a
// reduced dimension has extent 1, even if the graph drops it.
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
  int tensor = -1;      // of the graph, if it is one
  bool loaded = false;  // produced outside the group
};

struct Step {
  OpKind kind{};
  Attributes attributes;
  std::vector<int> inputs;
  int output = -1;
};

/// Part of an output that is a tensor of the graph: the range [start, end) along one dimension.
struct Slice {
  int tensor = -1;
  int dim = -1;
  std::int64_t start = 0, end = 0;
};

struct Steps {
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<int> outputs;  // values that are read outside the group or are outputs of the graph
  std::map<int, std::vector<Slice>> slices{};  // by output of which only slices along one dimension are read
};

/// Returns whether the kind is a sum or maximum along `dim`, which is kept with extent 1.
bool is_reduction(OpKind);

/// Returns whether the operator may be part of a group.
bool fusable(const graph::KernelGraph&, int op);

/// Whether all users of a loaded tensor share one value, or each has its own with independent axes.
enum class Readers : bool { together, separate };

/// `ops` must be in the graph's order. A concatenation is no step; its result is loaded. Throws Error if a
/// user in the group needs a dimension that was dropped.
Steps steps_of(const graph::KernelGraph&, const std::vector<int>& ops, Readers = Readers::together);

}  // namespace zellige::fuse
