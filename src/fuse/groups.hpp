// Finds which operators may become one kernel: the operators that may join a group, the dependences between
// operators, and whether a group is convex. A group is a set of operators considered for one kernel. It must
// be connected and convex, which means that no path of the graph leaves the group and returns to it.
#pragma once
#include <cstdint>
#include <vector>

#include "rewrite/graph_words.hpp"

namespace zellige::fuse {

/// A set of operators, as a bit set.
class OperatorSet {
 public:
  explicit OperatorSet(std::size_t size = 0, const std::vector<int>& operators = {}) : words_((size + 63) / 64) {
    for (int i : operators) add(i);
  }
  void add(int i) { words_[word(i)] |= bit(i); }
  void add(const OperatorSet& s) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= s.words_[w];
  }
  bool has(int i) const { return (words_[word(i)] & bit(i)) != 0; }
  bool has(const OperatorSet& s) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((s.words_[w] & ~words_[w]) != 0) return false;
    return true;
  }
  bool intersects(const OperatorSet& s) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((s.words_[w] & words_[w]) != 0) return true;
    return false;
  }
  /// Returns the operators in the set, ascending.
  std::vector<int> list() const;
  auto operator<=>(const OperatorSet&) const = default;

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static std::uint64_t bit(int i) { return std::uint64_t{1} << (static_cast<std::size_t>(i) % 64); }
  std::vector<std::uint64_t> words_;
};

/// By operator: the set of operators that it reads (direct), and that it depends on (all).
struct Dependences {
  std::vector<OperatorSet> direct, all;
};
/// Returns, for each operator, the operators whose results it reads, and all operators that it depends on. The
/// graph must be in topological order.
Dependences order_of(const graph::KernelGraph&);

/// Returns a topological order of the operators. The operators of a branch (a chain of operators that another
/// operator joins with others) are contiguous. An operator with one user comes close before that user, and a
/// short branch just before the operator that joins it with a long branch.
std::vector<int> branch_by_branch(const graph::KernelGraph&);

/// Returns whether every path between two operators of the group passes only through operators of the group.
bool is_convex(const OperatorSet&, const Dependences&);

/// Finds the operators that may join a group: producers of its operands, readers of its results, and operators that
/// read the same tensor as it. If a tensor has more than few_readers readers, this is restricted, because otherwise
/// there would be a group for each subset of them. Each reader is then a neighbour only of the readers before and after
/// it, and the tensor's producer only of the first of readers that are equal up to names.
class GroupNeighbours {
 public:
  static constexpr std::size_t few_readers = 4;
  explicit GroupNeighbours(const graph::KernelGraph&);
  /// Returns the operators outside of `group` that may join it, ascending: producers of its operands, readers
  /// of its results, and readers of its operands. `group` must be ascending.
  std::vector<int> of(const std::vector<int>& group) const;
  /// Returns the operators that read a tensor with more than few_readers readers, ascending.
  const std::vector<int>& of_many() const { return of_many_; }

 private:
  std::vector<std::vector<int>> of_each_;  // by operator: the operators that may join it
  std::vector<int> of_many_;
};

/// Finds operators that may swap places in the graph: they are equal up to names, depend on the same
/// operators, and no operator reads their results.
class Twins {
 public:
  explicit Twins(const graph::KernelGraph&, const Dependences&);
  /// Returns operators to take in place of `group`. If all operators of `group` are twins of each other
  /// (equal operators that may swap places), returns the first group.size() operators, in the graph's order,
  /// that are twins of these and not in `taken`. Otherwise returns `group`.
  std::vector<int> first(const std::vector<int>& group, const OperatorSet& taken) const;

 private:
  std::vector<int> kind_;               // by operator: index of its set of equal ones; -1: none
  std::vector<std::vector<int>> each_;  // by such a set: its operators, ascending
};

}  // namespace zellige::fuse
