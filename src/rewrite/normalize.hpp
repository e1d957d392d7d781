// Rewrites equivalent spellings of a graph into one canonical form before groups of operators are selected
// for fusion. The rules are in one table and are applied until none matches. Each example is followed by the
// name of its rule. In these examples shapes are in parentheses; m, h and d are extents:
//
//   x / expand(y)                ->    x / y                                 `broadcast`
//   reshape(y) (m, h d) * w      ->    reshape(y (m, h, d) * w (h, d))       `reshape after`
//
//   reshape(cast(x)), x an input ->    cast(reshape(x))                      `view of an input`
//
//   sum(x) (m) * 2               ->    reshape(sum(x) (m, 1)) * 2            `kept dimensions`
//
// Rules with files of their own are in rules.hpp. A rule changes no value and adds no rounding: it may omit one
// between operators, or move one across a factor (docs/reference/verdicts.md). A value that is computed twice (common subexpressions) is computed
// once.
#pragma once
#include <span>
#include <string_view>

#include "rewrite/rewrite.hpp"

namespace zellige::fuse {

/// A graph with the producer and the number of users of each tensor.
struct Known {
  explicit Known(const KernelGraph&);

  const Shape& shape(int tensor) const { return graph.tensors[tensor].shape; }
  DType dtype(int tensor) const { return graph.tensors[tensor].dtype; }
  const std::string& name(int tensor) const { return graph.tensors[tensor].name; }
  /// Returns the operator that produces the tensor if it is of this kind, else nullptr.
  const KernelOp* made_by(int tensor, OpKind) const;

  const KernelGraph& graph;
  std::vector<const KernelOp*> producer;  // by tensor; nullptr: an input
  std::vector<int> readers;  // by tensor: number of reads; an output of the graph counts as one more
};

/// A rewrite rule for one operator.
struct Rule {
  std::string_view name, condition;  // shown in the documentation
  /// Appends the replacement of an operator, with the same result, to the rewritten graph. Returns false and
  /// appends nothing if the rule does not apply.
  bool (*apply)(const Known&, const KernelOp&, Rewrite&);
};

/// Returns all rules, in the order in which they are tried.
std::span<const Rule> rules();

/// Returns the graph in canonical form: no rule matches, and no value is computed twice except for outputs.
KernelGraph normalize(KernelGraph);

}  // namespace zellige::fuse
