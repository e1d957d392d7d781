#include "lower/size_counts.hpp"

#include <cmath>

#include "graph/error.hpp"
#include "graph/reductions.hpp"

namespace zellige::lower {

using tile::Node;
using tile::SymbolicNumber;

/// Returns how many elements along sizes are summed in the value of node i, by this kernel and those before it; `before` has this of
/// the nodes before it.
SizeCounts::Summed SizeCounts::summed_in(const tile::TileProgram& kernel, const tile::SizeClasses& classes,
                                         const std::map<int, SymbolicNumber>& numbers, int i,
                                         const std::vector<Summed>& before) const {
  const Node& n = kernel.nodes[i];
  Summed of;
  if (n.kind == tile::NodeKind::load) {
    if (const auto found = summed_.find(p_.memory_of(n.tensor)); found != summed_.end()) of = found->second;
  } else if (n.kind != tile::NodeKind::matmul) {
    for (const int in : n.in)
      if (of.empty()) of = before[in];
  }
  const bool sum = (n.kind == tile::NodeKind::reduce || n.kind == tile::NodeKind::accumulate) &&
                   &graph::monoid_of(n.op) == &graph::monoids::sum;
  const auto found = numbers.find(classes.folded(i));
  if (!sum || found == numbers.end()) return of;
  for (SymbolicNumber& product : of) product = product * found->second;
  of.insert(of.begin(), found->second);
  return of;
}

constexpr std::int64_t max_elements = 1'000'000'000;  // of a constant factor of what is summed

/// Makes the divisor of a mean the number of elements of which it is one: that of summed elements, times a constant. Returns whether
/// the node divides by it.
bool SizeCounts::count(Node& n, const Summed& summed) {
  const bool product = n.op == graph::OpKind::mul_scalar, quotient = n.op == graph::OpKind::div;
  if (n.kind != tile::NodeKind::map || !(product || quotient) || n.in.size() != 1 || summed.empty()) return false;
  const double count = product ? 1 / n.scalar : n.scalar;
  for (auto of = summed.rbegin(); of != summed.rend(); ++of) {  // the largest count first
    const double rest = count / static_cast<double>(of->high());
    if (rest < 1 || rest != std::floor(rest) || rest > static_cast<double>(max_elements)) continue;
    n.op = graph::OpKind::div, n.scalar = count;
    n.count_size = size_of(p_.sizes, *of * static_cast<std::int64_t>(rest));
    return true;
  }
  if (const auto part = parts_.find(std::llround(count));
      part != parts_.end() && count < static_cast<double>(summed.back().high()))
    fail("{}: {} divides sums along {} by {}, the elements of a block's part, which the last block has not", p_.name,
         n.name.empty() ? graph::name(n.op) : n.name, summed.back().text(), *part);
  return false;
}

void SizeCounts::divide(tile::TileProgram& kernel, const tile::SizeClasses& classes,
                        const std::map<int, SymbolicNumber>& numbers) {
  std::vector<Summed> summed;
  for (int i = 0; i < static_cast<int>(kernel.nodes.size()); ++i) {
    Node& n = kernel.nodes[i];
    summed.push_back(summed_in(kernel, classes, numbers, i, summed));
    if (n.kind == tile::NodeKind::store && !summed[i].empty())
      summed_.insert_or_assign(p_.memory_of(n.tensor), summed[i]);
    if (!n.in.empty() && count(n, summed[n.in[0]])) summed[i].clear();
  }
}

}  // namespace zellige::lower
