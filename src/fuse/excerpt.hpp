// Extracts a group of operators, with all of its context that its kernels depend on, as a separate graph;
// equal groups have equal excerpts.
//
//   const Excerpts excerpts(graph);
//   const Excerpt e = excerpts.of({4, 5});
//   kernels_of(e.graph, e.ops, target, why);      // those of {4, 5} in the whole graph, by the excerpt's tensors
//   whole(kernel, e, e, {4, 5}, graph)            // one of them, in terms of the graph's own tensors
//
// Besides the operators an excerpt holds the views through which they read operands, and the users of their
// results. A user that is not a view is replaced by a copy. A slice of an operand keeps its strides but
// starts at 0, so that the iterations of an unrolled loop, each with its own row, are equal.
#pragma once
#include <string>
#include <vector>

#include "fuse/kernel.hpp"

namespace zellige::fuse {

struct Excerpt {
  graph::KernelGraph graph;
  std::vector<int> ops;      // the group's, in the excerpt
  std::vector<int> tensors;  // by the excerpt's tensors: the whole graph's; -1: the result of such a copy
};

class Excerpts {
 public:
  explicit Excerpts(const graph::KernelGraph&);
  /// Extracts the operators `ops`, which must be in the graph's order.
  Excerpt of(const std::vector<int>& ops) const;

 private:
  const graph::KernelGraph& g_;
  std::vector<int> maker_;                 // by tensor; -1: an input
  std::vector<std::vector<int>> readers_;  // by tensor
  std::vector<bool> is_output_;
};

/// The same string for groups that are equal up to names.
std::string key(const Excerpt&);

/// Translates a kernel of the excerpt `of` to operators of the whole graph, whose excerpt `like` has the same
/// key: replaces tensors and names.
Kernel whole(const Kernel&, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
             const graph::KernelGraph&);

}  // namespace zellige::fuse
