// Rebuilds a graph operator by operator, keeping tensor names.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::fuse {

class Rewrite {
 public:
  /// Starts with all tensors of a graph and none of its operators.
  explicit Rewrite(const graph::KernelGraph&);

  const graph::KernelTensor& tensor(int t) const { return graph_.tensors[t]; }
  const graph::Shape& shape(int t) const { return graph_.tensors[t].shape; }
  const std::string& name(int t) const { return graph_.tensors[t].name; }
  void set_dtype(int t, graph::DType dtype) { graph_.tensors[t].dtype = dtype; }

  void keep(const graph::KernelOp& op) { graph_.ops.push_back(op); }
  /// Adds a tensor; its name is made unique by a suffix.
  int make(graph::KernelTensor);
  /// Appends an operator; its result is `to`, or a new tensor named `name` plus a suffix.
  int add(graph::OpKind, std::vector<int> in, const graph::Attributes&, const std::string& name, int to = -1);

  /// Returns the graph without unused operators and tensors, with strides and shapes inferred.
  graph::KernelGraph finished();

 private:
  graph::KernelGraph graph_;
  std::set<std::string> names_;
};

/// The operator that produces a tensor; nullptr: it is an input.
const graph::KernelOp* producer(const graph::KernelGraph&, int tensor);
/// The operators that read a tensor.
std::vector<int> readers(const graph::KernelGraph&, int tensor);
bool is_output(const graph::KernelGraph&, int tensor);
/// Returns whether the operator is a copy that changes nothing.
bool is_copy(const graph::KernelOp&);
bool is_rotary(graph::OpKind);

}  // namespace zellige::fuse
