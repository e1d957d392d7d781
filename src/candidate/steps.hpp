// Expands a group of operators, which may become one kernel, into its steps: primitive operations (elementwise
// functions, matmuls, sums and maxima) on numbered values. Fusion decides on steps, so that it needs no pattern
// for softmax, norms or attention.
//
//   Steps s = steps_of(graph, {0, 1, 3});   // of rms_norm, mul and matmul
//   s.steps                                 // square, sum, mul_scalar, add, sqrt, div, mul, matmul
//
// Composed operators are decomposed (graph/compose.hpp), except rotary embeddings. A reduced dimension is
// kept with extent 1, even if the graph drops it.
#pragma once
#include <map>
#include <vector>

#include "rewrite/graph_words.hpp"
#include "rewrite/indexed.hpp"

namespace zellige::candidate {

/// An operand or result of a step.
struct StepValue {
  static constexpr std::string_view called = "value";
  graph::Shape shape;
  graph::DType dtype = graph::DType::f16;
  int tensor = -1;      // the tensor of the graph that it is; -1: none
  bool loaded = false;  // produced outside the group, and loaded by it
};

/// A primitive operation on values.
struct GroupStep {
  static constexpr std::string_view called = "step";
  graph::OpKind kind{};
  graph::Attributes attributes;
  std::vector<int> inputs;  // indices in GroupSteps::values
  int output = -1;          // index in GroupSteps::values
};

inline bool is_matmul(const GroupStep& s) { return s.kind == graph::OpKind::matmul; }

/// A slice of a group's output that is a tensor of the graph: indices [start, end) of dimension `dim`.
struct OutputSlice {
  int tensor = -1;
  int dim = -1;
  std::int64_t start = 0, end = 0;
};

/// The steps of a group, in topological order.
struct GroupSteps {
  rewrite::Indexed<StepValue> values;
  rewrite::Indexed<GroupStep> steps;
  std::vector<int> outputs;  // values that are read outside the group or are outputs of the graph
  // By output that is read only through slices along one dimension.
  std::map<int, std::vector<OutputSlice>> slices{};

  /// Appends a value and returns its index.
  int add(StepValue);
  /// Appends a step whose result is a new value, and returns the index of that.
  int add(graph::OpKind, std::vector<int> inputs, const graph::Attributes&, StepValue result);
};

/// Returns the extent of the dimension `back` positions before the last, or 1 if there is no such dimension.
std::int64_t from_last(const graph::Shape&, std::size_t back);

/// Returns the step that makes value `v`. Throws Fault if there is none.
const GroupStep& step_of(const GroupSteps&, int v);

/// Returns whether two values are the same numbers: the same value, except for casts to f32.
bool same_numbers(const GroupSteps&, int a, int b);

/// Returns whether a step of this kind is a sum or maximum along one dimension (the attribute `dim`). The
/// result of such a step keeps this dimension with extent 1.
bool is_reduction(graph::OpKind);

/// Returns, by value, how many of the reductions, matmuls and stored outputs of the steps read the value, directly or
/// through elementwise steps. A tile of a value that one of them reads is needed once, for example a norm's weights; the
/// norm's rows are read by its reduction and by its output.
std::vector<std::size_t> readers_of(const GroupSteps&);

/// Returns the concatenations among the operators `ops`. A concatenation stays an operator of the graph in
/// front of the fused kernel, and the kernel reads the concatenation's operands.
std::vector<int> concatenations(const graph::KernelGraph&, const std::vector<int>& ops);

/// Returns whether an operator outside of the group `ops` reads the tensor, or it is an output of the graph.
bool leaves(const graph::KernelGraph&, const std::vector<int>& ops, int tensor);

/// Returns whether the operator may be fused with others into one kernel.
bool fusable(const graph::KernelGraph&, int op);

/// Returns whether the operator is one that a kernel computes from steps: no view, copy or custom operator.
bool computes(const graph::KernelGraph&, int op);

/// Whether all readers of a loaded tensor share one value, or each has its own value with independent axes.
enum class Readers : bool { together, separate };

/// Returns the steps of the operators `ops`, which must be ascending. A concatenation is no step: its result is loaded.
/// Throws Error if an operator reads a reduction's result without the reduced dimension, which the group's steps keep,
/// or if a concatenation cannot be read operand by operand. With Readers::together all readers of a loaded tensor share
/// one value; with Readers::separate each reader has its own, with independent axes.
GroupSteps steps_of(const graph::KernelGraph&, const std::vector<int>& ops, Readers = Readers::together);

}  // namespace zellige::candidate
