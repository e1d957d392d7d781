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
  std::span<const std::uint64_t> words() const { return words_; }
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

/// Is there no operator outside that lies between two of the group?
bool is_convex(const Set&, const Order&);
/// What may join a group.
std::vector<int> neighbours(const graph::KernelGraph&, const Set&, const Order&);

}  // namespace zellige::fuse
