// One form for what graphs spell in several ways, before groups are chosen. The rules are rows of one table, applied until none fits.
//
//   expand(n) : x / n            ->    x / n                                 `broadcast`
//   reshape(y) (m, h d) * w      ->    reshape(y (m, h, d) * w (h, d))       `reshape behind`
//
//   reshape(cast(x)), x an input ->    cast(reshape(x))                      `view of an input`
//
//   sum(x) (m) * 2               ->    reshape(sum(x) (m, 1)) * 2            `kept dimensions`
//
// A rule changes no value and no rounding. What is computed twice is computed once.
#pragma once
#include <span>
#include <string_view>

#include "fuse/rewrite.hpp"

namespace zellige::fuse {

/// A graph, and of each of its tensors who makes it and how many operators read it.
struct Known {
  explicit Known(const graph::KernelGraph&);

  const graph::Shape& shape(int tensor) const { return graph.tensors[tensor].shape; }
  /// The tensor's maker, where it is of the kind; else nullptr.
  const graph::KernelOp* made_by(int tensor, graph::OpKind) const;

  const graph::KernelGraph& graph;
  std::vector<const graph::KernelOp*> maker;
  std::vector<int> readers;  // an output counts as one more
};

struct Rule {
  std::string_view name, condition;
  /// Writes the operator anew, with the result that it has; false where the condition does not hold, and nothing is written then.
  bool (*apply)(const Known&, const graph::KernelOp&, Rewrite&);
};

std::span<const Rule> rules();

graph::KernelGraph normalize(graph::KernelGraph);

}  // namespace zellige::fuse
