// The expected time of a graph, or of some of its operators, before it is planned: that of a sketch, which decides what
// make_plan() decides except swizzles, and proves nothing. A search plans only what is promising by it.
//
//   estimate(graph, target).us
#pragma once
#include "plan/plan.hpp"
#include "predict/cost_estimate.hpp"

namespace zellige::plan {

/// Returns the expected time of a plan.
inline predict::CostEstimate estimate_cost(const Plan& plan, const target::Target& target) {
  return predict::estimate_cost(plan.program, plan.kernels,
                                plan.sketched ? predict::Detail::sketched : predict::Detail::planned, target);
}

/// Returns the expected time of a graph, as estimate_cost() returns it of the graph's plan, except for bank conflicts,
/// which swizzles leave few of. Throws Error if there is no such plan.
predict::CostEstimate estimate(const graph::KernelGraph&, const target::Target&);

/// Returns the graph of some operators of a graph alone: its inputs are their operands that none of them computes, its
/// outputs all of their results that others read. `ops` are in order.
graph::KernelGraph part_of(const graph::KernelGraph&, const std::vector<int>& ops);

}  // namespace zellige::plan
