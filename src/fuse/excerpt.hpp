// Extracts a group of operators, with all of its context that its kernels depend on, as a separate graph;
// equal groups have equal excerpts.
//
//   const Excerpts excerpts(graph);
//   const Excerpt e = excerpts.of({4, 5});
//   kernels_of(e.graph, e.ops, target, why);      // those of {4, 5} in the whole graph, by the excerpt's tensors
//   whole(kernel, e, e, {4, 5}, graph)            // one of them, in terms of the graph's own tensors
//
// Besides the operators: the views that their operands are seen through, and who reads their results. Of a reader that is no view
// only that it reads counts: a copy represents it. Of a slice of an operand only its strides count, so that
// it begins at 0 here: the steps of a loop that was written out, each of its own row, are equal. Operators
// that do not read each other, not even in the end, are branches of the group; they are in an order which
// their own excerpts decide, so that a group of equal branches, of which any two go a step farther than the
// others, is the same whichever two these are.
#pragma once
#include <map>
#include <mutex>
#include <set>
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
  using Ops = std::vector<int>;
  /// What of the graph a group takes along: its operators, and views of operands and results.
  struct Taken {
    std::set<int> all, before;  // operators; of these, the views of operands
    std::set<int> copied;       // tensors that others read
  };
  Taken taken(const Ops&) const;
  std::vector<Ops> branches(const Ops&, const Taken&) const;
  Ops in_one_order(const Ops&, const Taken&) const;
  const std::string& key_of_branch(const Ops&) const;

  const graph::KernelGraph& g_;
  std::vector<int> producer_;              // by tensor; -1: an input
  std::vector<std::vector<int>> readers_;  // by tensor
  std::vector<bool> is_output_;
  mutable std::mutex mutex_;
  mutable std::map<Ops, std::string> known_;  // keys of branches
};

/// The same string for groups that are equal up to names.
std::string key(const Excerpt&);

/// Translates a kernel of the excerpt `of` to operators of the whole graph, whose excerpt `like` has the same
/// key: replaces tensors and names.
Kernel whole(const Kernel&, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
             const graph::KernelGraph&);

}  // namespace zellige::fuse
