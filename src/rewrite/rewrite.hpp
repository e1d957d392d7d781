// Class Rewrite, with which passes rewrite a graph: builds the new graph operator by operator, and keeps the
// names of the old graph's tensors.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// A graph under construction.
class Rewrite {
 public:
  /// Starts with all tensors of a graph and none of its operators. The graph's tensors keep their indices.
  explicit Rewrite(const KernelGraph&);

  const KernelTensor& tensor(int t) const { return graph_.tensors[t]; }
  const Shape& shape(int t) const { return graph_.tensors[t].shape; }
  const std::string& name(int t) const { return graph_.tensors[t].name; }
  void set_dtype(int t, DType dtype) { graph_.tensors[t].dtype = dtype; }

  /// Appends an operator unchanged.
  void keep(const KernelOp& op) { graph_.ops.push_back(op); }
  /// Adds a tensor and returns its index. Underscores are appended to the tensor's name until the name is unique.
  int make(KernelTensor);
  /// Appends an operator on the tensors `in` and returns its result: tensor `to`, or a new tensor if `to` is
  /// -1. The new tensor has the inferred shape, the dtype of in[0], and the name `name` with underscores
  /// appended until it is unique.
  int add(OpKind, std::vector<int> in, const Attributes&, const std::string& name, int to = -1);

  /// Returns the graph without unused operators and tensors, with strides and shapes inferred. May be called only once.
  KernelGraph finished();

 private:
  KernelGraph graph_;
  std::set<std::string> names_;
};

/// Returns the operator that produces a tensor, or nullptr if the tensor is an input.
const KernelOp* producer(const KernelGraph&, int tensor);
/// Returns the indices of the operators that read a tensor, ascending.
std::vector<int> readers(const KernelGraph&, int tensor);
bool is_output(const KernelGraph&, int tensor);
/// Returns whether the operator is a copy: mul_scalar by 1.
bool is_copy(const KernelOp&);
/// Returns whether the kind is a rotary embedding, of halves or interleaved.
bool is_rotary(OpKind);

}  // namespace zellige::fuse
