// Groups of operators that are alike are one kind: the kernels that make one of them are found and planned once for all.
//
//   Kinds kinds(graph, target, prices);
//   const std::vector<std::shared_ptr<Kind>> of = kinds.of({{4, 5}, {7, 8}});   // one kind, where {7, 8} is a layer's like {4, 5}
//   of[0]->us                                     // by estimate; never: no kernel makes such a group, for the reason `why`
//   kinds.plan(*of[0]);                           // now by its plan
//   kinds.kernel(*of[0], {7, 8})                  // in the graph's own tensors
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
  Excerpt first;                // of the first group of the kind
  std::vector<Kernel> kernels;  // of the excerpt, the least by estimate first; none: refused
  std::size_t best = 0;         // of the kernels, once they are planned
  double us = never;            // by estimate, until they are planned
  bool planned = false;
  std::string why{};  // the planner refuses it
  std::size_t launches() const { return kernels[best].parts.size(); }
};

class Kinds {
 public:
  Kinds(const graph::KernelGraph&, const target::Target&, Prices& known);

  /// Those of groups, each of operators in the graph's order; what is new is found side by side.
  std::vector<std::shared_ptr<Kind>> of(const std::vector<std::vector<int>>& groups);
  /// How many there are.
  std::size_t count() const { return kinds_.size(); }
  void plan(Kind&) const;
  /// A planned kind's kernel for operators of that kind.
  Kernel kernel(const Kind&, const std::vector<int>& ops) const;
  /// Why no kernel, or what kernel by estimate, makes the group, in the words of these operators: one that is alike has other names.
  std::string reason(const std::vector<int>& ops, bool plan_it) const;

 private:
  void find_kernels(Kind&) const;

  const graph::KernelGraph& g_;
  const target::Target& target_;
  Prices& prices_;
  Excerpts excerpts_;
  std::map<std::string, std::shared_ptr<Kind>> kinds_;  // by key
};

}  // namespace zellige::fuse
