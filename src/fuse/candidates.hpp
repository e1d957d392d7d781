// The groups of operators that may be selected (candidates), and how they depend on each other. Class Choosing
// (choose.cpp) adds and selects them.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fuse/kinds.hpp"
#include "fuse/waits.hpp"

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

  /// The dependences between the selected groups and the operators outside of all groups.
  struct Waiting {
    std::vector<std::size_t> nodes;  // candidates, the selected ones first
    Waits waits;
  };
  /// Returns the dependences between the groups of a cover and the operators outside of these groups.
  Waiting waiting(const Selected&) const;
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
