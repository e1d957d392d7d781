// Chooses the groups: each operator is in exactly one, at the least estimated cost.
//
// Finds the cheapest cover of the operators by candidate groups (cover.hpp), where an operator's place is its
// rank in branch_by_branch. Groups that are equal up to names are one kind, found, estimated and planned
// once. First each kind has an estimate; then the kinds of the best cover are planned, until all groups of
// the best cover are planned. If groups of a cover depend on each other, one of them is excluded. A note
// reports each search limit that was reached.
#pragma once
#include "fuse/kernel.hpp"
#include "fuse/watch.hpp"

namespace zellige::fuse {

/// The median error of the cost model (docs/reference/costs.md): smaller differences count as equal.
constexpr double tie = 0.05;

struct Group {
  std::vector<int> ops;
  std::vector<Kernel> kernels;  // the kernel that computes it; empty: the operator is not fused
  double us = 0;
};

/// Statistics of the search.
struct Work {
  std::size_t groups = 0;  // candidates examined
  std::size_t kinds = 0;   // candidates that differ in more than names
  std::size_t plans = 0;   // kinds that were planned
  std::size_t states = 0;  // of the largest cover
};

struct Choice {
  std::vector<Group> groups;  // in topological order
  Work work{};
  std::vector<std::string> notes;
  std::vector<std::string> limits;  // search limits that were reached
  bool ended = false;               // the Watch callback stopped the search
};

/// Whether the notes explain, for each producer and user that are separate kernels, why they were not fused.
/// This may take one plan per pair.
enum class Reasons : bool { omitted, told };

Choice choose(const graph::KernelGraph&, const target::Target&, CostCache& known, const Watch& = {},
              Reasons = Reasons::told);

}  // namespace zellige::fuse
