// Groups that are equal up to names share one kind: their kernels are found and planned once.
//
//   Kinds kinds(graph, target, costs);
//   const std::vector<std::shared_ptr<Kind>> of = kinds.of({{4, 5}, {7, 8}});   // one kind, if {7, 8} repeats {4, 5}
//   of[0]->us                                     // estimated; never: no kernel computes the group, see `why`
//   kinds.plan(*of[0]);                           // now from its plan
//   kinds.kernel(*of[0], {7, 8})                  // in terms of the graph's own tensors
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fuse/cover.hpp"
#include "fuse/excerpt.hpp"
#include "fuse/kernel.hpp"
#include "graph/graph.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

struct Kind {
  Excerpt first;                // of the kind's first group
  std::vector<Kernel> kernels;  // of the excerpt, cheapest estimate first; empty: rejected
  std::size_t best = 0;         // index of the cheapest kernel, once planned
  double us = never;            // estimated by formula, until planned
  bool planned = false;
  std::string why{};  // why the planner rejects it
  std::size_t launches() const { return kernels[best].parts.size(); }
};

class Kinds {
 public:
  Kinds(const graph::KernelGraph&, const target::Target&, CostCache& known);

  /// Returns the kinds of groups, each with its operators in the graph's order; new kinds are found in
  /// parallel.
  std::vector<std::shared_ptr<Kind>> of(const std::vector<std::vector<int>>& groups);
  /// Number of kinds.
  std::size_t count() const { return kinds_.size(); }
  void plan(Kind&) const;
  /// A planned kind's kernel for operators of that kind.
  Kernel kernel(const Kind&, const std::vector<int>& ops) const;
  /// Why no kernel computes the group, or which estimated kernel does, with the names of these operators.
  std::string reason(const std::vector<int>& ops, bool plan_it) const;

 private:
  void find_kernels(Kind&) const;

  const graph::KernelGraph& g_;
  const target::Target& target_;
  CostCache& costs_;
  Excerpts excerpts_;
  std::map<std::string, std::shared_ptr<Kind>> kinds_;  // by key
};

}  // namespace zellige::fuse
