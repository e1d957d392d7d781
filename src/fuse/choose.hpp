// Chooses which operators are fused: puts each operator in exactly one group, at the least estimated cost.
//
// Candidate groups are grown from single operators. The cheapest cover is then found: candidates that contain each
// operator exactly once (cover.hpp). Groups that are equal up to names are one kind, which is estimated and planned
// once. A kind's cost is first an estimate from sketches. The kinds of the cheapest cover are planned, their plans'
// expected times replace the estimates, and the cover is found again, until all its kinds are planned. If groups of a
// cover depend on each other in a cycle, one of them is excluded. A note reports each search limit that was reached.
#pragma once
#include "candidate/expected_time.hpp"
#include "rewrite/watch.hpp"

namespace zellige::fuse {

/// Operators that become one kernel.
struct Group {
  std::vector<int> ops;
  std::vector<candidate::GroupKernel> kernels;  // the kernel that computes it; empty: the operator is not fused
  double us = 0;                                // expected time, in microseconds
};

/// Statistics of the search.
struct SearchWork {
  std::size_t groups = 0;  // candidates that were examined
  std::size_t kinds = 0;   // kinds of candidates: those equal up to names count once
  std::size_t plans = 0;   // kinds that were planned
  std::size_t states = 0;  // of the cover that needed most
};

/// The selected groups, with notes for the user.
struct Choice {
  std::vector<Group> groups;  // in topological order
  SearchWork work{};
  std::vector<std::string> notes;
  std::vector<std::string> limits;  // search limits that were reached
  bool ended = false;               // the Watch callback stopped the search
};

/// Whether the notes explain, for each two kernels of which one reads the other, why they were not fused. The
/// explanation may take one plan per pair.
enum class Reasons : bool { omitted, told };

/// Returns groups of operators with the least total expected time that the search found, in topological
/// order. Expected times of plans are looked up in the cache `known` and added to it. `Watch` is a callback
/// that receives the progress and may end the search; then only groups that are planned are used. With
/// Reasons::told, notes say why groups were not fused. Throws Error if an operator cannot be planned, and
/// Rejected if the verifier rejects an operator's plan and no fused kernel contains the operator.
Choice choose(const graph::KernelGraph&, const target::Target&, candidate::CostCache& known, const rewrite::Watch& = {},
              Reasons = Reasons::told);

}  // namespace zellige::fuse
