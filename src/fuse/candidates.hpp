// The groups of operators that may be selected (candidates), and how they depend on each other. Class Choosing
// (choose.cpp) adds and selects them.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fuse/groups.hpp"
#include "fuse/kinds.hpp"

namespace zellige::fuse {

/// A group that may be selected, or an operator that is in no group: a view, a copy or a custom operator.
struct Candidate {
  OperatorSet ops, before;            // `before`: the operators it depends on
  std::vector<int> list;              // the same as `ops`, ascending
  std::shared_ptr<GroupKind> kind{};  // null: the operator is in no group
  double own_us = 0;                  // of an operator that is in no group: its microseconds
  bool banned = false;                // excluded, because it and another group depend on each other

  /// Returns the cost in microseconds, or `never` if the candidate is excluded.
  double us() const { return banned ? never : kind ? kind->us : own_us; }
  /// Returns the number of kernels that the candidate launches.
  std::size_t launches() const { return kind ? kind->launches() : 1; }
};

/// The dependences between candidates, of which one may read the results of another.
class Waits {
 public:
  /// `nodes`: indices of `candidates`, of which exactly one has each of the graph's operators, `operators` in number.
  Waits(const std::vector<Candidate>& candidates, std::vector<std::size_t> nodes, std::size_t operators);

  const std::vector<std::size_t>& nodes() const { return nodes_; }
  /// Returns the nodes in topological order. Among those that may come next, the one with the lowest rank comes first;
  /// ranks[n] is the rank of nodes()[n]. Returns nullopt if there is a cycle.
  std::optional<std::vector<std::size_t>> in_order(const std::vector<int>& ranks) const;
  /// Returns nodes that form a cycle, in which each is read by the next one; none if there is no cycle.
  std::vector<std::size_t> circle() const;

 private:
  std::vector<std::size_t> nodes_;
  std::vector<std::vector<std::size_t>> after_;  // by node: the nodes that read its results, by number
  std::vector<std::size_t> waits_for_;           // by node: number of nodes that it depends on directly
};

/// The candidates of one graph. Selected is a cover: a list of indices of candidates_ that contains each operator that can be
/// fused exactly once.
class Candidates {
 protected:
  using Selected = std::vector<std::size_t>;

  explicit Candidates(const graph::KernelGraph& g) : g_(g), order_(order_of(g)), place_(g.ops.size(), -1) {}

  /// Returns the operators as a bit set.
  OperatorSet set(const std::vector<int>& ops) const { return OperatorSet(g_.ops.size(), ops); }
  /// Returns the operators outside of `s` whose results are read by operators of `s`.
  OperatorSet before(const OperatorSet& s) const;
  /// Returns whether the operator cannot be fused. Such an operator is in no selected group.
  bool never_grouped(int op) const { return place_[op] < 0; }

  /// Returns the dependences between the groups of a cover, which are the first nodes, and the operators outside of them.
  Waits waiting(const Selected&) const;
  /// Returns a topological order, as indices of candidates, of the groups of a cover and the operators outside of
  /// these groups. Operators that cannot be fused come as early as possible. Returns nullopt if there is a cycle.
  std::optional<std::vector<std::size_t>> in_order(const Selected&) const;
  /// Returns pairs (i, j) of groups of a cover, as indices of candidates_: group j reads a result of group i.
  std::vector<std::pair<std::size_t, std::size_t>> readers(const Selected&) const;

  const graph::KernelGraph& g_;
  Dependences order_;
  std::vector<int> place_;             // by operator: its number among those that can be fused; -1: it cannot
  std::vector<Candidate> candidates_;  // first each operator unfused, by index
};

}  // namespace zellige::fuse
