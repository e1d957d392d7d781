#include "search/scalars.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace zellige::search {
namespace {

std::set<double> scalars(const KernelGraph& g) {
  std::set<double> found;
  each_op(g, [&](const auto& op, const graph::BlockGraph*) {
    for (double s : search::scalars(op)) found.insert(s);
  });
  return found;
}

/// Returns whether two numbers agree to 50 bits.
bool near(double x, double y) { return std::fabs(x - y) <= 0x1p-50 * std::fabs(x) && std::isfinite(y); }

}  // namespace

std::set<double> of_one_alone(const KernelGraph& a, const KernelGraph& b) {
  const std::set<double> in_a = scalars(a), in_b = scalars(b);
  std::set<double> result;
  std::ranges::set_symmetric_difference(in_a, in_b, std::inserter(result, result.end()));
  std::erase_if(result, [](double s) { return static_cast<double>(static_cast<float>(s)) == s; });  // not rounded
  return result;
}

std::vector<Folded> folded(const KernelGraph& a, const KernelGraph& b) {
  std::set<double> all = scalars(a);
  for (double s : scalars(b)) all.insert(s);
  std::vector<Folded> found;
  std::set<double> done;  // results of folding are not folded further
  for (double s : of_one_alone(a, b)) {
    const auto one = [&](double x, double y) -> std::optional<Folded> {
      if (near(s, x * y)) return Folded{s, x, y, '*'};
      if (near(s, x / y)) return Folded{s, x, y, '/'};
      if (near(s, x + y)) return Folded{s, x, y, '+'};
      return std::nullopt;
    };
    for (double x : all)
      for (double y : all)
        if (x != s && y != s && x != 1 && y != 1 && x != 0 && y != 0 && !done.count(s) && !done.count(x) &&
            !done.count(y))
          if (const auto f = one(x, y)) found.push_back(*f), done.insert(s);
  }
  return found;
}

}  // namespace zellige::search
