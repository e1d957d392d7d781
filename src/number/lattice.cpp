#include "number/lattice.hpp"

#include <algorithm>

namespace zellige::number {
namespace {

using Clause = Lattice::Clause;

constexpr std::size_t max_clauses = 64;  // limit of clauses when a dual is multiplied out

/// Returns whether the minimum of clause `c` (a list of numbers, its members) is certainly at most the minimum
/// of clause `d`: each member of d is at least some member of c. `order` says which numbers are known to be ordered.
bool covered(const Clause& c, const Clause& d, const KnownOrder& order) {
  return std::ranges::all_of(d, [&](std::uint64_t y) {
    return std::ranges::any_of(c, [&](std::uint64_t x) { return x == y || order.less_equal(x, y); });
  });
}

/// Returns clause `c` (a list of numbers whose minimum is taken) without the members that `order` proves to be at
/// least another member: they do not change the minimum.
Clause reduced(Clause c, const KnownOrder& order) {
  std::ranges::sort(c);
  c.erase(std::unique(c.begin(), c.end()), c.end());
  if (std::ranges::none_of(c, order.constant)) return c;
  for (std::size_t i = 0; i < c.size();) {
    const bool needless = std::ranges::any_of(c, [&](std::uint64_t x) {
      return x != c[i] && order.less_equal(x, c[i]) && !(order.less_equal(c[i], x) && x > c[i]);
    });
    if (needless)
      c.erase(c.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return c;
}

/// Returns the normal form of the maximum of some minima (`clauses`): leaves out each minimum that `order` proves to
/// be at most another one.
Lattice normal(std::vector<Clause> clauses, const KnownOrder& order) {
  std::ranges::sort(clauses);
  clauses.erase(std::unique(clauses.begin(), clauses.end()), clauses.end());
  std::vector<std::size_t> telling;  // clauses that may be at most another one, or at least
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (clauses[i].size() > 1 || order.constant(clauses[i].front())) telling.push_back(i);
  std::vector<bool> gone(clauses.size(), false);
  const auto compare = [&](std::size_t i, std::size_t j) {
    if (i != j && !gone[i] && !gone[j]) gone[i] = covered(clauses[i], clauses[j], order);
  };
  for (std::size_t t : telling)
    for (std::size_t i = 0; i < clauses.size(); ++i) compare(t, i), compare(i, t);
  Lattice result;
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (!gone[i]) result.clauses.push_back(std::move(clauses[i]));
  return result;
}

}  // namespace

Lattice join(const std::vector<Lattice>& parts, const KnownOrder& order) {
  std::vector<Clause> clauses;
  for (const Lattice& part : parts) clauses.insert(clauses.end(), part.clauses.begin(), part.clauses.end());
  return normal(std::move(clauses), order);
}

std::optional<Lattice> dual(const Lattice& l, const std::function<std::uint64_t(std::uint64_t)>& negated,
                            const KnownOrder& order) {
  std::vector<Clause> products{{}};
  if (l.clauses.size() == 1) {  // a minimum of any size becomes a maximum
    products.clear();
    for (std::uint64_t member : l.clauses.front()) products.push_back({negated(member)});
    return normal(std::move(products), order);
  }
  // Multiply out the minimum of maxima: take one member of each clause.
  for (const Clause& clause : l.clauses) {
    if (products.size() * clause.size() > max_clauses) return std::nullopt;
    std::vector<Clause> longer;
    for (const Clause& p : products)
      for (std::uint64_t member : clause) {
        longer.push_back(p);
        longer.back().push_back(negated(member));
      }
    products = std::move(longer);
  }
  for (Clause& p : products) p = reduced(std::move(p), order);
  return normal(std::move(products), order);
}

std::vector<std::uint64_t> members(const Lattice& l) {
  std::vector<std::uint64_t> all;
  for (const Clause& c : l.clauses) all.insert(all.end(), c.begin(), c.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace zellige::number
