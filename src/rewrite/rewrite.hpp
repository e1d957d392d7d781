// What rewrites of graphs are written with: Known, which answers who makes and who reads a tensor, and Rewrite, which
// builds the new graph operator by operator and keeps the names of the old graph's tensors.
#pragma once
#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <vector>

#include "graph/compose.hpp"
#include "rewrite/graph_words.hpp"
#include "rewrite/indexed.hpp"

namespace zellige::rewrite {

/// A graph with the producer and the number of users of each tensor.
struct Known {
  explicit Known(const KernelGraph&);

  const Shape& shape(int tensor) const { return checked(graph.tensors, tensor, "tensor").shape; }
  DType dtype(int tensor) const { return checked(graph.tensors, tensor, "tensor").dtype; }
  const std::string& name(int tensor) const { return checked(graph.tensors, tensor, "tensor").name; }
  /// Returns the operator that produces the tensor if it is of this kind and has `operands` operands, else nullptr.
  const KernelOp* made_by(int tensor, OpKind, std::size_t operands = any) const;
  /// The same if nobody else reads the tensor.
  const KernelOp* inner(int tensor, OpKind, std::size_t operands = any) const;
  /// The same if a rule may compute from the operator's operands what reads the tensor: the dtype is float32, or the only
  /// reader is an operator. In 16 bits whoever else reads the tensor, or an output of the graph, shows it rounded.
  const KernelOp* unrounded(int tensor, OpKind, std::size_t operands = any) const;
  /// Returns whether unrounded() looks through the tensor.
  bool is_unrounded(int tensor) const;
  static constexpr std::size_t any = 0;

  const KernelGraph& graph;
  std::vector<const KernelOp*> producer;  // by tensor; nullptr: an input
  std::vector<int> readers;               // by tensor: number of reads; an output of the graph counts as one more
};

/// A graph under construction.
class Rewrite {
 public:
  /// Starts with all tensors of a graph and none of its operators. The graph's tensors keep their indices.
  explicit Rewrite(const KernelGraph&);

  const KernelTensor& tensor(int t) const { return checked(graph_.tensors, t, "tensor"); }
  const Shape& shape(int t) const { return tensor(t).shape; }
  const std::string& name(int t) const { return tensor(t).name; }

  /// Appends an operator unchanged.
  void keep(const KernelOp& op) { graph_.ops.push_back(op); }
  /// Adds a tensor and returns its index. Underscores are appended to the tensor's name until the name is unique.
  int make(KernelTensor);
  /// Appends an operator on the tensors `in` and returns its result: tensor `to`, or a new tensor if `to` is
  /// -1. The new tensor has the inferred shape and dtype, and the name `name` with underscores appended until it is
  /// unique.
  int add(OpKind, std::vector<int> in, const Attributes&, const std::string& name, int to = -1);
  /// Appends an operator and returns its result, a new tensor that is called as op's result followed by `suffix`.
  int step(const KernelOp& op, OpKind, std::vector<int> in, const Attributes&, std::string_view suffix);
  /// Appends an operator whose result takes the place of op's. Returns true.
  bool replace(const KernelOp& op, OpKind, std::vector<int> in, const Attributes& = {});
  /// Appends `op` on the operands `in`. Returns false and appends nothing if these are its operands.
  bool replace_operands(const KernelOp& op, std::vector<int> in);

  /// Returns the graph without unused operators and tensors, with strides, shapes and dtypes inferred. May be called
  /// only once.
  KernelGraph finished();

 private:
  KernelGraph graph_;
  std::set<std::string> names_;
};

/// Returns the graph without dead code: operators whose results are unused, and tensors that are neither an input nor the result of an
/// operator. Tensors and operators are renumbered.
KernelGraph live(KernelGraph);
/// Returns the graph with only the tensors `kept`, in this order. Throws Fault if another one is read or made.
KernelGraph with_tensors(KernelGraph, const std::vector<int>& kept);

/// Returns the indices of the operators that read a tensor, ascending.
std::vector<int> readers(const KernelGraph&, int tensor);
inline bool is_output(const KernelGraph& g, int tensor) { return std::ranges::count(g.outputs, tensor) > 0; }
/// Returns whether two numbers have the same bits: 0 and -0 differ, a NaN is itself.
inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
/// Returns whether two attributes are the same, to the bits of their numbers; false if a number is NaN.
bool same_attributes(const Attributes&, const Attributes&);
/// Returns whether the operator is a cast to float32 that changes no floating-point number: it does not saturate.
inline bool is_widening(OpKind kind, const Attributes& a) {
  return kind == OpKind::cast && a.dtype == DType::f32 && !a.saturate;
}
/// Returns whether a dtype has float32's range, so that a value without a factor that it lacks does not overflow.
inline bool has_range(DType dtype) { return dtype == DType::bf16 || dtype == graph::computed_in(dtype); }
/// Returns whether the operator is a copy: mul_scalar by 1.
inline bool is_copy(const KernelOp& op) { return op.kind == OpKind::mul_scalar && op.attributes.scalar == 1; }
/// Returns whether the kind is a rotary embedding, of halves or interleaved.
inline bool is_rotary(OpKind kind) { return kind == OpKind::rotary || kind == OpKind::rotary_interleaved; }
/// Returns whether elements keep their sequence if the dimensions are put in this order: except for dimensions of
/// extent 1, the order is ascending.
bool keeps_sequence(const Shape&, const std::vector<std::int64_t>& order);
/// Returns the dimensions of a permutation that exchanges the last two of `rank` dimensions.
std::vector<std::int64_t> exchanged(std::size_t rank);
/// Returns whether the kind is a softmax or a norm, which makes each row of one.
inline bool along_rows(OpKind kind) { return graph::is_composed(kind) && !graph::reduces(kind) && !is_rotary(kind); }
/// Returns which operand of a concatenation a slice of what has the concatenation's shape is, or -1.
int operand_of(const Known&, const KernelOp& concat, const KernelOp& slice);
/// Returns the rotary embeddings of the heads that lie along dimension `dim` of tensor `heads`, or of slices of these
/// heads. Returns none if an operator other than these reads the tensor.
std::vector<const KernelOp*> rotations_of_heads(const KernelGraph&, int heads, int dim);

}  // namespace zellige::rewrite
