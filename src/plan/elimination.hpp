// Exact minimisation of a sum of cost tables over discrete variables, by variable elimination.
//
//   // Two tensors, each with two candidate innermost dimensions; the copy between them is cheap when they
//   agree. Problem p{.domain = {2, 2}, .factors = {{{0}, {3, 0}}, {{0, 1}, {0, 5, 5, 0}}}}; Solution s =
//   minimise(p);   // s.value == {1, 1}, s.cost == 0, s.optimal
//
// A variable is eliminated by adding up the tables that mention it and minimising over it; the result is a
// table over its neighbours. Time and memory are exponential only in the width of the elimination order
// (min-fill here), which is two or three for the graphs of real programs.
//
// If a table would exceed `table_cap` entries its parts are minimised separately ("mini-buckets"), which
// gives a lower bound; a beam search guided by that bound then looks for a solution. It is exact if it
// reaches the bound; `optimal` reports whether it did.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace zellige::plan {

struct Factor {
  std::vector<int> variables;  // distinct
  std::vector<double> cost;    // row-major over the variables' domains (last fastest); infinity forbids
  std::string name = {};       // for messages only
};

struct Problem {
  std::vector<int> domain;  // number of values of each variable
  std::vector<Factor> factors;
};

struct Solution {
  std::vector<int> value;
  double cost = 0;         // the sum of all factors at `value`
  int width = 0;           // maximum number of neighbours of a variable when it was eliminated
  double lower_bound = 0;  // no assignment costs less
  bool optimal = true;
};

/// Postcondition: `value` is feasible. Throws Error that names the conflicting factors if nothing is
/// feasible, and if the beam search finds nothing feasible in a problem above the cap.
Solution minimise(const Problem& problem, std::size_t table_cap = std::size_t{1} << 22, int beam = 1024);

/// The sum of all factors at `value`.
double evaluate(const Problem& problem, const std::vector<int>& value);

}  // namespace zellige::plan
