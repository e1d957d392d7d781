// Groups of operators that may become one kernel: connected and convex (no path leaves the group and
// returns).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// A set of operators, as a bit set.
class Set {
 public:
  explicit Set(std::size_t size = 0) : words_((size + 63) / 64) {}
  void add(int i) { words_[word(i)] |= bit(i); }
  void add(const Set& s) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= s.words_[w];
  }
  bool has(int i) const { return (words_[word(i)] & bit(i)) != 0; }
  bool has(const Set& s) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((s.words_[w] & ~words_[w]) != 0) return false;
    return true;
  }
  bool intersects(const Set& s) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((s.words_[w] & words_[w]) != 0) return true;
    return false;
  }
  std::size_t count() const;
  std::vector<int> list() const;
  auto operator<=>(const Set&) const = default;

 private:
  static std::size_t word(int i) { return static_cast<std::size_t>(i) / 64; }
  static std::uint64_t bit(int i) { return std::uint64_t{1} << (static_cast<std::size_t>(i) % 64); }
  std::vector<std::uint64_t> words_;
};

/// The operators that each operator depends on, directly and transitively.
struct Order {
  std::vector<Set> direct, all;
};
Order order_of(const graph::KernelGraph&);

/// A topological order in which an operator with one user is adjacent to it: branches are contiguous, and a
/// short branch comes at its end, not before the long branch that it joins.
std::vector<int> branch_by_branch(const graph::KernelGraph&);

/// Returns whether no path between two operators of the group leaves it.
bool is_convex(const Set&, const Order&);

/// What may join a group: producers of what it reads, readers of what it makes, and readers of the same tensor. Of a tensor that more than
/// `few_readers` read, each has those next to it alone, in the graph's order, and of readers that differ in nothing but names the producer has
/// the first alone: there would be a set for each of their subsets.
class Neighbours {
 public:
  static constexpr std::size_t few_readers = 4;
  explicit Neighbours(const graph::KernelGraph&);
  std::vector<int> of(const std::vector<int>& group) const;
  /// Operators that are among the many readers of a tensor, ascending.
  const std::vector<int>& of_many() const { return of_many_; }

 private:
  std::vector<std::vector<int>> of_each_;
  std::vector<int> of_many_;
};

/// Operators that may swap places in the graph: they are equal up to names, depend on the same operators, and no operator reads them.
class Twins {
 public:
  explicit Twins(const graph::KernelGraph&, const Order&);
  /// The first twins that are not taken, one for each operator of the group; the group itself if it has others than twins of one kind.
  std::vector<int> first(const std::vector<int>& group, const Set& taken) const;

 private:
  std::vector<int> kind_;               // by operator; -1: no twin
  std::vector<std::vector<int>> each_;  // by kind
};

}  // namespace zellige::fuse
