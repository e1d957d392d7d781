// Groups of operators that may become one kernel: connected, and with no way out of the group and back in.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::fuse {

/// Operators of a graph as bits.
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
  bool meets(const Set& s) const {
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

/// Who makes what an operator reads: of every operator, those that come before it, directly and in the end.
struct Order {
  std::vector<Set> direct, all;
};
Order order_of(const graph::KernelGraph&);

/// Every operator behind what it reads, and next to its reader what is made for one reader alone: branches lie one behind the other, and
/// a short one at its end, not before the long one that it meets.
std::vector<int> branch_by_branch(const graph::KernelGraph&);

/// Is there no operator outside that lies between two of the group?
bool is_convex(const Set&, const Order&);

/// What may join a group: makers of what it reads, readers of what it makes, and readers of the same tensor. Of a tensor that more than
/// `few_readers` read, each has those next to it alone, in the graph's order: sets of them would be as many as they have subsets.
class Neighbours {
 public:
  static constexpr std::size_t few_readers = 4;
  explicit Neighbours(const graph::KernelGraph&);
  std::vector<int> of(const std::vector<int>& group) const;

 private:
  std::vector<std::vector<int>> of_each_;
};

}  // namespace zellige::fuse
