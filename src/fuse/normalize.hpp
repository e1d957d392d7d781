// Rewrites equivalent spellings into one canonical form before groups are selected. The rules are rows of one
// table, applied until none matches.
//
//   expand(n) : x / n            ->    x / n                                 `broadcast`
//   reshape(y) (m, h d) * w      ->    reshape(y (m, h, d) * w (h, d))       `reshape after`
//
//   reshape(cast(x)), x an input ->    cast(reshape(x))                      `view of an input`
//
//   sum(x) (m) * 2               ->    reshape(sum(x) (m, 1)) * 2            `kept dimensions`
//
// A rule changes no value and no rounding. Common subexpressions are computed once.
#pragma once
#include <span>
#include <string_view>

#include "fuse/rewrite.hpp"

namespace zellige::fuse {

/// A graph with the producer and the number of users of each tensor.
struct Known {
  explicit Known(const graph::KernelGraph&);

  const graph::Shape& shape(int tensor) const { return graph.tensors[tensor].shape; }
  /// The tensor's producer if it is of this kind; else nullptr.
  const graph::KernelOp* made_by(int tensor, graph::OpKind) const;

  const graph::KernelGraph& graph;
  std::vector<const graph::KernelOp*> producer;
  std::vector<int> readers;  // an output counts as one more
};

struct Rule {
  std::string_view name, condition;
  /// Rewrites the operator, keeping its result. Returns false, and writes nothing, if the condition does not
  /// hold.
  bool (*apply)(const Known&, const graph::KernelOp&, Rewrite&);
};

std::span<const Rule> rules();

graph::KernelGraph normalize(graph::KernelGraph);

}  // namespace zellige::fuse
