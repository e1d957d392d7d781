// Extracts a group of operators as a separate graph, with all the context that its kernels depend on. Groups
// that are equal up to names have equal excerpts, so that they are planned once.
//
//   const Excerpts excerpts(graph);
//   const Excerpt e = excerpts.of({4, 5});                               // of operators 4 and 5
//   std::vector<GroupKernel> ks = kernels_of(e.graph, e.ops, target, why);    // with tensor indices of e.graph
//   GroupKernel k = whole(ks[0], e, e, {4, 5}, graph);                        // with tensor indices of `graph`
//
// The excerpt has the operators, the views through which their operands are read, and the readers of their
// results. A reader that is no view is represented by a copy; a concat or slice_scatter, which may have the result written
// into its own memory, by a concat of one operand. So is a concat that makes an operand. A slice of an operand begins at 0 in the
// excerpt, because only its strides matter: so the steps of an unrolled loop, each of which reads its own
// row, have equal excerpts.
//
// Operators of the group that do not depend on each other form its branches. Branches are sorted by their own
// excerpts, so that any two of five equal branches give the same excerpt.
//
// A kernel becomes a separate graph, too, so that it can be planned and priced alone.
#pragma once
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "candidate/kernel.hpp"

namespace zellige::candidate {

/// A group of operators as a separate graph.
struct Excerpt {
  graph::KernelGraph graph;
  std::vector<int> ops;  // the group's operators, as indices in `graph`
  // By tensor of `graph`: the tensor of the whole graph; -1: the result of a copy that represents a reader.
  std::vector<int> tensors;
};

/// Makes excerpts of one graph. Thread-safe.
class Excerpts {
 public:
  explicit Excerpts(const graph::KernelGraph&);
  /// Returns the operators `ops` as a separate graph, with the views of their operands and results, and
  /// copies or concats that represent the other readers of their results. `ops` must be ascending.
  Excerpt of(const std::vector<int>& ops) const;

 private:
  using Ops = std::vector<int>;
  /// The operators of an excerpt: the group's, and views of its operands and results.
  struct Taken {
    std::set<int> all, before;  // all operators; those of them that are views of operands
    std::set<int> copied;       // tensors with other readers, which copies represent
    std::set<int> placed;       // tensors that a concat or slice_scatter reads, which a concat of one represents
  };
  Taken taken(const Ops&) const;
  std::map<int, Ops> branches(const Ops&, const Taken&) const;
  /// Returns the operators of an excerpt (a group as a separate graph) in canonical order: the group's branches (parts
  /// that do not depend on each other) sorted by key_of_branch(), those of equal keys in the graph's order, each after
  /// the views of its operands that no branch before it reads.
  Ops in_one_order(const Ops&, const Taken&) const;
  /// Returns a string that is the same for branches (independent parts of a group) that are equal up to
  /// names: the key() of the branch as a separate graph. It is computed once per branch.
  const std::string& key_of_branch(const Ops&) const;

  const graph::KernelGraph& g_;
  std::vector<int> producer_;              // by tensor: the operator that produces it; -1: an input
  std::vector<std::vector<int>> readers_;  // by tensor: the operators that read it, ascending
  std::vector<graph::Strides> laid_out_;   // by tensor that an operator makes: the strides that its views need, or none
  mutable std::mutex mutex_;
  mutable std::map<Ops, std::string> known_;  // by branch: the key of its excerpt
};

/// Returns a string that is the same for excerpts (groups of operators as separate graphs) that are equal up to names.
std::string key(const Excerpt&);

/// Returns the given kernel, translated to the operators `ops` of the whole graph (the last argument). The
/// kernel computes the group whose excerpt (the group as a separate graph) is `of`. `like` is the excerpt of
/// `ops`. Both excerpts must have the same key(): the groups are equal up to names.
GroupKernel whole(const GroupKernel&, const Excerpt& of, const Excerpt& like, const std::vector<int>& ops,
                  const graph::KernelGraph&);

/// Returns tensor number `tensor` of the graph, with its strides, as an input of a separate graph. A view has the
/// strides that follow from those of its operand.
graph::KernelTensor outside(const graph::KernelGraph&, int tensor);

/// Returns the kernel as a separate graph. Concatenations whose operands the kernel reads precede the kernel
/// in that graph.
graph::KernelGraph alone(const graph::KernelGraph&, const GroupKernel&);

}  // namespace zellige::candidate
