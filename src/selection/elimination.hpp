// Minimises a sum of cost tables (factors) over discrete variables, exactly, by variable elimination. The planner
// uses it to choose memory layouts (layouts.hpp).
//
//   // Two tensors with two candidate innermost dimensions each; the copy between them is cheap if they agree.
//   // A factor is {its variables, its cost table}.
//   Problem p{.domain = {2, 2}, .factors = {{{0}, {3, 0}}, {{0, 1}, {0, 5, 5, 0}}}};
//   Solution s = minimise(p);   // s.value == {1, 1}, s.cost == 0, s.optimal
//
// A variable is eliminated by adding up all tables over it and taking the minimum over its values. The result is a
// table over its neighbours, the other variables of those tables. Time and memory are exponential only in the width
// of the elimination order (here min-fill): two or three for the graphs of real programs.
//
// If the sum of a variable's tables would exceed `table_cap` entries, the tables are divided into groups
// ("mini-buckets"), and the minimum of each group is taken separately. This gives a lower bound of the cost. A beam
// search that the bound guides then looks for a solution, which is optimal if its cost equals the bound.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace zellige::selection {

/// A cost table over some variables.
struct Factor {
  std::vector<int> variables;  // distinct
  std::vector<double> cost;    // row-major over the variables' values (last fastest); infinity forbids
  std::string name = {};       // for messages only
};

/// The variables, each with values 0 <= v < domain[variable], and the cost tables whose sum is minimised.
struct Problem {
  std::vector<int> domain;  // number of values of each variable
  std::vector<Factor> factors;
};

/// The best assignment found.
struct Solution {
  std::vector<int> value;  // by variable
  double cost = 0;         // the sum of all factors at `value`
  int width = 0;           // maximum number of neighbours of a variable when it was eliminated
  double lower_bound = 0;  // no assignment costs less
  bool optimal = true;     // whether `cost` is proved to be the least
};

/// Returns an assignment of values to the variables with the least cost, which is finite. If a table would exceed
/// `table_cap` entries, returns the best assignment that a beam search of width `beam` finds. Throws Error if the
/// problem is malformed, if every assignment has infinite cost (the message names the conflicting factors), or if the
/// beam search finds no finite cost.
Solution minimise(const Problem& problem, std::size_t table_cap = std::size_t{1} << 22, int beam = 1024);

/// Returns the sum of all factors for an assignment: value[v] is the value of variable v.
double evaluate(const Problem& problem, const std::vector<int>& value);

}  // namespace zellige::selection
