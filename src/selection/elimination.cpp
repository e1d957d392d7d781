#include "selection/elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "graph/error.hpp"

namespace zellige::selection {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A cost table: a factor of the problem, or the result of eliminating a variable (a "message").
struct CostTable {
  std::vector<int> variables;
  std::vector<double> cost;
  std::vector<int> origins;  // the problem's factors that contributed to it
};

/// Returns the name of factor number `factor` for a message, or "factor N" if it has no name.
std::string described(const Problem& p, int factor) {
  const Factor& f = p.factors[factor];
  return f.name.empty() ? fmt::format("factor {}", factor) : f.name;
}

/// Throws Error if the problem is malformed: a variable without values, a factor (cost table) with wrong variables or
/// a table of the wrong size, or a cost that is NaN or minus infinity.
void check(const Problem& p) {
  const int n = static_cast<int>(p.domain.size());
  for (int v = 0; v < n; ++v)
    if (p.domain[v] < 1) fail("elimination: variable {} has {} values; at least 1 is needed", v, p.domain[v]);
  for (int f = 0; f < static_cast<int>(p.factors.size()); ++f) {
    const Factor& factor = p.factors[f];
    std::size_t entries = 1;
    std::vector<int> seen;
    for (int v : factor.variables) {
      if (v < 0 || v >= n)
        fail("elimination: {} mentions variable {}, but there are {} variables", described(p, f), v, n);
      if (std::ranges::count(seen, v) > 0) fail("elimination: {} mentions variable {} twice", described(p, f), v);
      seen.push_back(v);
      entries *= p.domain[v];
    }
    if (factor.cost.size() != entries)
      fail("elimination: {} has {} costs, but its variables have {} assignments", described(p, f), factor.cost.size(),
           entries);
    for (double c : factor.cost)
      if (std::isnan(c) || c == -infinite)
        fail("elimination: {} holds the cost {}; a cost is finite or +infinity", described(p, f), c);
  }
}

/// Returns the min-fill elimination order: the next variable is the one whose elimination adds the fewest edges
/// between its neighbours; among equals, the one with the fewest values, then the lowest index. Sets `width` to the
/// maximum number of neighbours that a variable has when it is eliminated.
std::vector<int> min_fill_order(const Problem& p, int* width) {
  const int n = static_cast<int>(p.domain.size());
  std::vector<std::set<int>> near(n);
  for (const Factor& f : p.factors)
    for (int a : f.variables)
      for (int b : f.variables)
        if (a != b) near[a].insert(b);
  const auto common = [&](const std::set<int>& a, const std::set<int>& b) {
    const bool fewer = a.size() < b.size();
    const std::set<int>&few = fewer ? a : b, &many = fewer ? b : a;
    return static_cast<int>(std::ranges::count_if(few, [&](int v) { return many.count(v) > 0; }));
  };
  auto fill_of = [&](int v) {
    const int degree = static_cast<int>(near[v].size());
    int linked = 0;  // edges among the neighbours, each counted twice
    for (int a : near[v]) linked += common(near[a], near[v]);
    return (degree * (degree - 1) - linked) / 2;
  };
  std::vector<int> fill(n), order;
  std::set<std::tuple<int, int, int>> next;  // the remaining variables: fill, number of values, index
  for (int v = 0; v < n; ++v) fill[v] = fill_of(v), next.emplace(fill[v], p.domain[v], v);
  *width = 0;
  while (!next.empty()) {
    const int best = std::get<2>(*next.begin());
    next.erase(next.begin());
    *width = std::max(*width, static_cast<int>(near[best].size()));
    order.push_back(best);
    const auto refill = [&](int v, int now) {
      next.erase({fill[v], p.domain[v], v});
      fill[v] = now;
      next.emplace(now, p.domain[v], v);
    };
    if (fill[best] == 0) {  // adds no edge, so that only its neighbours change: linear time for trees
      for (int a : near[best]) {
        near[a].erase(best);
        refill(a, fill[a] - static_cast<int>(near[a].size()) + common(near[a], near[best]));
      }
      continue;
    }
    std::set<int> stale = near[best];
    for (int a : near[best]) {
      near[a].erase(best);
      for (int b : near[best])
        if (a != b) near[a].insert(b);
    }
    for (int a : near[best]) stale.insert(near[a].begin(), near[a].end());
    for (int v : stale) refill(v, fill_of(v));
  }
  return order;
}

/// Returns the entry of the cost table `cost` over `variables` for `value`, an assignment of all of the problem's
/// variables.
double at(const Problem& p, const std::vector<int>& variables, const std::vector<double>& cost,
          const std::vector<int>& value) {
  std::size_t index = 0;
  for (int v : variables) index = index * p.domain[v] + value[v];
  return cost[index];
}

/// Adds those of `more` to the ascending variables `all` that are not among them.
void unite(std::vector<int>& all, const std::vector<int>& more) {
  for (int v : more)
    if (const auto at = std::ranges::lower_bound(all, v); at == all.end() || *at != v) all.insert(at, v);
}

/// Returns the number of entries of a table over these variables.
double entries_over(const Problem& p, const std::vector<int>& variables) {
  double entries = 1;
  for (int v : variables) entries *= p.domain[v];
  return entries;
}

/// Returns the sum of the tables `parts`, minimised over the values of variable `x`. The result is a table over the
/// other variables.
CostTable eliminate(const Problem& p, const std::vector<const CostTable*>& parts, int x) {
  CostTable out;
  for (const CostTable* t : parts) {
    unite(out.variables, t->variables);
    out.origins.insert(out.origins.end(), t->origins.begin(), t->origins.end());
  }
  std::erase(out.variables, x);
  std::vector<int> digits = out.variables;
  digits.push_back(x);

  // step[t][d]: by how much the index into the table parts[t] increases when the value of variable digits[d]
  // increases by 1.
  std::vector<std::vector<std::size_t>> step(parts.size(), std::vector<std::size_t>(digits.size(), 0));
  for (std::size_t t = 0; t < parts.size(); ++t) {
    std::size_t stride = 1;
    for (auto v = parts[t]->variables.rbegin(); v != parts[t]->variables.rend(); ++v) {
      step[t][std::ranges::find(digits, *v) - digits.begin()] = stride;
      stride *= p.domain[*v];
    }
  }
  const auto entries = static_cast<std::size_t>(entries_over(p, out.variables));
  out.cost.resize(entries);
  std::vector<std::size_t> index(parts.size(), 0);
  std::vector<int> counter(out.variables.size(), 0);
  for (std::size_t e = 0; e < entries; ++e) {
    double min_cost = infinite;
    for (int k = 0; k < p.domain[x]; ++k) {
      double sum = 0;
      for (std::size_t t = 0; t < parts.size(); ++t) sum += parts[t]->cost[index[t] + k * step[t].back()];
      min_cost = std::min(min_cost, sum);
    }
    out.cost[e] = min_cost;
    for (int d = static_cast<int>(counter.size()) - 1; d >= 0; --d) {
      const int extent = p.domain[out.variables[d]];
      const bool carry = ++counter[d] == extent;
      for (std::size_t t = 0; t < parts.size(); ++t)
        carry ? index[t] -= step[t][d] * (extent - 1) : index[t] += step[t][d];
      if (!carry) break;
      counter[d] = 0;
    }
  }
  return out;
}

/// A variable with the tables from which it is eliminated.
struct Bucket {
  int variable;
  std::vector<CostTable> tables;    // all tables over it and variables that are eliminated later
  std::vector<CostTable> messages;  // the result of its elimination: several tables if `table_cap` is exceeded
};

/// Divides the tables of `bucket` into groups, first fit. A bucket has the tables from which one variable is
/// eliminated. The sum of the tables of a group has at most `cap` entries, unless the group is a single table.
std::vector<std::vector<const CostTable*>> split(const Problem& p, const Bucket& bucket, std::size_t cap) {
  std::vector<std::vector<const CostTable*>> groups;
  std::vector<std::vector<int>> scope;
  std::vector<int> joint;
  for (const CostTable& t : bucket.tables) {
    std::size_t g = 0;
    for (; g < groups.size(); ++g) {
      joint = scope[g];
      unite(joint, t.variables);
      if (entries_over(p, joint) <= static_cast<double>(cap)) break;
    }
    if (g == groups.size()) groups.emplace_back(), scope.emplace_back();
    groups[g].push_back(&t);
    unite(scope[g], t.variables);
  }
  return groups;
}

/// An assignment of some of the variables.
struct PartialAssignment {
  std::vector<int> value;
  double bound;  // lower bound of the cost of every completion
};

/// Beam search of width `beam`: assigns the variables in reverse order of elimination, and keeps the best `beam`
/// partial assignments. Returns the complete assignments of finite cost that remain, best first. `bound` is a lower
/// bound of the problem's cost. The lower bound of a partial assignment is its cost plus the messages (results of
/// eliminations) of all variables that are not yet assigned.
std::vector<PartialAssignment> descend(const Problem& p, const std::vector<Bucket>& buckets, double bound, int beam) {
  std::vector<PartialAssignment> states{{std::vector<int>(p.domain.size(), 0), bound}};
  // Calls use(value, bound) for every value of the bucket's variable with a finite lower bound.
  const auto extend = [&](PartialAssignment& state, const Bucket& bucket, const auto& use) {
    for (const CostTable& m : bucket.messages) state.bound -= at(p, m.variables, m.cost, state.value);
    for (int k = 0; k < p.domain[bucket.variable]; ++k) {
      state.value[bucket.variable] = k;
      double sum = state.bound;
      for (const CostTable& t : bucket.tables) sum += at(p, t.variables, t.cost, state.value);
      if (sum < infinite) use(k, sum);
    }
  };
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    if (beam == 1) {  // one state, changed in place: one copy per bucket would be quadratic
      double min_cost = infinite;
      int best = -1;
      extend(states[0], *bucket, [&](int k, double sum) {
        if (sum < min_cost) min_cost = sum, best = k;
      });
      if (best < 0) return {};
      states[0].value[bucket->variable] = best, states[0].bound = min_cost;
      continue;
    }
    std::vector<PartialAssignment> next;
    for (PartialAssignment& state : states)
      extend(state, *bucket, [&](int, double sum) { next.push_back({state.value, sum}); });
    std::ranges::stable_sort(next, {}, &PartialAssignment::bound);
    if (static_cast<int>(next.size()) > beam) next.resize(beam);
    states = std::move(next);
  }
  return states;
}

}  // namespace

double evaluate(const Problem& problem, const std::vector<int>& value) {
  double sum = 0;
  for (const Factor& f : problem.factors) sum += at(problem, f.variables, f.cost, value);
  return sum;
}

Solution minimise(const Problem& p, std::size_t table_cap, int beam) {
  check(p);
  Solution s;
  const std::vector<int> order = min_fill_order(p, &s.width);
  std::vector<int> position(p.domain.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  std::vector<Bucket> buckets(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) buckets[i].variable = order[i];

  double bound = 0;
  auto file = [&](CostTable t) {  // into the bucket of its variable that is eliminated first
    if (std::ranges::all_of(t.cost, [](double c) { return c == infinite; })) {
      std::string names;
      std::ranges::sort(t.origins);
      for (int f : t.origins) names += (names.empty() ? "" : ", ") + described(p, f);
      fail("elimination: no assignment satisfies {} {}", names, t.origins.size() > 1 ? "together" : "alone");
    }
    if (t.variables.empty()) return void(bound += t.cost[0]);
    int first = position[t.variables[0]];
    for (int v : t.variables) first = std::min(first, position[v]);
    buckets[first].tables.push_back(std::move(t));
  };
  for (std::size_t f = 0; f < p.factors.size(); ++f)
    file({p.factors[f].variables, p.factors[f].cost, {static_cast<int>(f)}});
  bool was_split = false;
  for (Bucket& bucket : buckets) {
    const auto groups = split(p, bucket, table_cap);
    was_split |= groups.size() > 1;
    for (const auto& group : groups) {
      bucket.messages.push_back(eliminate(p, group, bucket.variable));
      file(bucket.messages.back());
    }
  }

  const std::vector<PartialAssignment> found = descend(p, buckets, bound, was_split ? std::max(beam, 1) : 1);
  if (found.empty())
    fail(
        "elimination: a table would pass the cap of {} entries, and a beam of {} found no assignment; raise "
        "either",
        table_cap, beam);
  s.value = found[0].value;
  s.cost = evaluate(p, s.value);
  s.lower_bound = was_split ? std::min(bound, s.cost) : s.cost;
  s.optimal = !was_split || s.cost - bound <= 1e-9 * std::max(1.0, std::abs(s.cost));
  return s;
}

}  // namespace zellige::selection
