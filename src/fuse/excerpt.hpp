// A group of operators with what of its graph its kernels depend on, as a graph of its own: groups that are alike have equal excerpts.
//
//   const Excerpts excerpts(graph);
//   const Excerpt e = excerpts.of({4, 5});
//   kernels_of(e.graph, e.ops, target, why);      // those of {4, 5} in the whole graph, by the excerpt's tensors
//   whole(kernel, e, e, {4, 5}, graph)            // one of them by the graph's own
//
// Besides the operators: the views that their operands are seen through, and who reads their results. Of a reader that is no view
// only that it reads counts: a copy stands for it. Of a slice of an operand only its strides count, so that it begins at 0 here: the
// steps of a loop that was written out, each of its own row, are alike.
#pragma once
#include <string>
#include <vector>

#include "fuse/kernel.hpp"

namespace zellige::fuse {

struct Excerpt {
  graph::KernelGraph graph;
  std::vector<int> ops;      // the group's, in the excerpt
  std::vector<int> tensors;  // of the whole graph, by the excerpt's; -1: what a copy makes
};

class Excerpts {
 public:
  explicit Excerpts(const graph::KernelGraph&);
  /// Of operators in the graph's order.
  Excerpt of(const std::vector<int>& ops) const;

 private:
  const graph::KernelGraph& g_;
  std::vector<int> maker_;                 // by tensor; -1: an input
  std::vector<std::vector<int>> readers_;  // by tensor
  std::vector<bool> is_output_;
};

/// Equal for groups of which one is the other under other names.
std::string key(const Excerpt&);

/// A kernel of the excerpt `of` as one of operators of the whole graph, whose excerpt `like` has the same key: by their tensors and names.
Kernel whole(const Kernel&, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
             const graph::KernelGraph&);

}  // namespace zellige::fuse
