// The Boolean form of the layout problem: one variable per dimension of each tensor, "is innermost", exactly
// one true per tensor, with constraints and costs by operator. Z3 solves this form; elimination uses one
// variable per tensor.
#include <gtest/gtest.h>
#include <z3++.h>

#include <limits>
#include <random>

#include "selection/elimination.hpp"

using namespace zellige;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A graph of `tensors`: each but the first reads one or two earlier ones.
selection::Problem random_layouts(std::mt19937& rng, int tensors, int dims) {
  selection::Problem p;
  p.domain.assign(tensors, dims);
  for (int t = 0; t < tensors; ++t) {
    selection::Factor own{{t}, {}};
    for (int d = 0; d < dims; ++d) own.cost.push_back(rng() % 5 == 0 && d > 0 ? infinite : double(rng() % 4));
    p.factors.push_back(own);
    if (t == 0) continue;
    selection::Factor op{{t}, {}};
    for (int k = 0; k < 2; ++k) {
      const int from = rng() % t;
      if (op.variables.back() != from) op.variables.push_back(from);
    }
    std::size_t entries = 1;
    for (std::size_t k = 0; k < op.variables.size(); ++k) entries *= dims;
    for (std::size_t e = 0; e < entries; ++e) op.cost.push_back(rng() % 8 == 0 ? infinite : double(rng() % 20));
    p.factors.push_back(op);
  }
  return p;
}

// The least cost, or infinity where nothing is feasible.
double z3_minimum(const selection::Problem& p) {
  z3::context c;
  z3::optimize solver(c);
  std::vector<std::vector<z3::expr>> innermost(p.domain.size());
  for (std::size_t t = 0; t < p.domain.size(); ++t) {
    z3::expr_vector dims(c);
    for (int d = 0; d < p.domain[t]; ++d) {
      innermost[t].push_back(c.bool_const(("t" + std::to_string(t) + "_" + std::to_string(d)).c_str()));
      dims.push_back(innermost[t].back());
    }
    solver.add(z3::atleast(dims, 1));
    solver.add(z3::atmost(dims, 1));
  }
  z3::expr total = c.int_val(0);
  for (const selection::Factor& f : p.factors)
    for (std::size_t e = 0; e < f.cost.size(); ++e) {
      z3::expr all = c.bool_val(true);
      std::size_t rest = e;
      for (auto v = f.variables.rbegin(); v != f.variables.rend(); rest /= p.domain[*v], ++v)
        all = all && innermost[*v][rest % p.domain[*v]];
      if (f.cost[e] == infinite)
        solver.add(!all);
      else
        total = total + z3::ite(all, c.int_val(static_cast<int>(f.cost[e])), c.int_val(0));
    }
  solver.minimize(total);
  if (solver.check() != z3::sat) return infinite;
  return solver.get_model().eval(total).get_numeral_int();
}

}  // namespace

TEST(EliminationZ3, AgreesOnRandomLayoutProblems) {
  std::mt19937 rng(4);
  int feasible = 0, infeasible = 0;
  for (int i = 0; i < 30; ++i) {
    const selection::Problem p = random_layouts(rng, 3 + i % 6, 2 + i % 3);
    const double expected = z3_minimum(p);
    if (expected == infinite) {
      ++infeasible;
      EXPECT_ANY_THROW(selection::minimise(p));
    } else {
      ++feasible;
      EXPECT_EQ(selection::minimise(p).cost, expected) << "instance " << i;
    }
  }
  EXPECT_GE(feasible, 18);
  RecordProperty("infeasible", infeasible);
}
