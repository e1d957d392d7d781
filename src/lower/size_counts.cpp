#include "lower/size_counts.hpp"

#include <cmath>

#include "graph/error.hpp"
#include "graph/reductions.hpp"

namespace zellige::lower {

using tile::Node;
using tile::SymbolicNumber;

/// Returns how many elements along sizes are summed in the value of node i, by this kernel and those before it; `before` has this of
/// the nodes before it.
SymbolicNumber SizeCounts::summed_in(const tile::TileProgram& kernel, const tile::SizeClasses& classes,
                                     const std::map<int, SymbolicNumber>& numbers, int i,
                                     const std::vector<SymbolicNumber>& before) const {
  const Node& n = kernel.nodes[i];
  SymbolicNumber of = 1;
  if (n.kind == tile::NodeKind::load) {
    if (const auto found = summed_.find(p_.memory_of(n.tensor)); found != summed_.end()) of = found->second;
  } else if (n.kind != tile::NodeKind::matmul) {
    for (const int in : n.in)
      if (of.is_constant()) of = before[in];
  }
  const bool sum = (n.kind == tile::NodeKind::reduce || n.kind == tile::NodeKind::accumulate) &&
                   &graph::monoid_of(n.op) == &graph::monoids::sum;
  const auto found = numbers.find(classes.folded(i));
  return sum && found != numbers.end() ? of * found->second : of;
}

constexpr std::int64_t max_elements = 1'000'000'000;  // of a constant factor of what is summed

/// Makes the divisor of a mean the number of elements of which it is one: that of summed elements, times a constant. Returns whether
/// the node divides by it.
bool SizeCounts::count(Node& n, const SymbolicNumber& summed) {
  const bool product = n.op == graph::OpKind::mul_scalar, quotient = n.op == graph::OpKind::div;
  if (n.kind != tile::NodeKind::map || !(product || quotient) || n.in.size() != 1 || summed.is_constant()) return false;
  const double count = product ? 1 / n.scalar : n.scalar, rest = count / static_cast<double>(summed.high());
  if (const auto part = parts_.find(std::llround(count)); part != parts_.end() && rest < 1)
    fail("{}: {} divides sums along {} by {}, the elements of a block's part, which the last block has not", p_.name,
         n.name.empty() ? graph::name(n.op) : n.name, summed.text(), *part);
  if (rest < 1 || rest != std::floor(rest) || rest > static_cast<double>(max_elements)) return false;
  n.op = graph::OpKind::div, n.scalar = count;
  n.count_size = size_of(p_.sizes, summed * static_cast<std::int64_t>(rest));
  return true;
}

void SizeCounts::divide(tile::TileProgram& kernel, const tile::SizeClasses& classes,
                        const std::map<int, SymbolicNumber>& numbers) {
  std::vector<SymbolicNumber> summed;
  for (int i = 0; i < static_cast<int>(kernel.nodes.size()); ++i) {
    Node& n = kernel.nodes[i];
    summed.push_back(summed_in(kernel, classes, numbers, i, summed));
    if (n.kind == tile::NodeKind::store && !summed[i].is_constant())
      summed_.insert_or_assign(p_.memory_of(n.tensor), summed[i]);
    if (!n.in.empty() && count(n, summed[n.in[0]])) summed[i] = 1;
  }
}

}  // namespace zellige::lower
