// Plans equal groups of operators once: groups that differ only in names are one kind, which has one set of
// kernels and one cost.
//
//   Kinds kinds(graph, target, costs);
//   const std::vector<std::shared_ptr<Kind>> of = kinds.of({{4, 5}, {7, 8}});   // one kind, if {7, 8} repeats {4, 5}
//   of[0]->us                         // the estimated time, or `never` if no kernel computes the group (see `refusal`)
//   kinds.plan(*of[0]);               // of[0]->us is now the expected time of the cheapest plan
//   kinds.kernel(*of[0], {7, 8})      // the kernel for operators 7 and 8 of `graph`
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "candidate/excerpt.hpp"
#include "candidate/expected_time.hpp"
#include "fuse/cover.hpp"
#include "rewrite/graph_words.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// Groups of operators that are equal up to names.
struct GroupKind {
  candidate::Excerpt first;  // of the group that was met first
  // Of the excerpt, in order of estimated time; empty: no kernel computes the groups.
  std::vector<candidate::GroupKernel> kernels;
  std::size_t best = 0;  // index of the cheapest kernel; known once the kind is planned
  // Expected time in microseconds, of sketches until the kind is planned; never: no kernel.
  double us = never;
  bool planned = false;
  candidate::NoPlan refusal{};  // why there is no kernel or plan
  /// Returns the number of launches of the cheapest kernel.
  std::size_t launches() const { return kernels[best].parts.size(); }
};

/// Which kernels of a kind are planned.
enum class PlansOfKind : bool { all, up_to_first };

/// All kinds of one graph, for one target.
class Kinds {
 public:
  Kinds(const graph::KernelGraph&, const target::Target&, candidate::CostCache& known);

  /// Returns the kind of each group: groups that are equal up to names have one kind. The operators of a group must be
  /// ascending. The kernels of new kinds are found in parallel.
  std::vector<std::shared_ptr<GroupKind>> of(const std::vector<std::vector<int>>& groups);
  std::size_t count() const { return kinds_.size(); }
  /// Plans the kernels of a kind, in order of estimated time. Sets its `best` to the index of the cheapest kernel and `us`
  /// to the expected time of that. If no kernel can be planned, sets `us` to `never` (infinity) and `refusal` to the reason.
  /// With PlansOfKind::up_to_first, ends with the first kernel that can be planned.
  void plan(GroupKind&, PlansOfKind = PlansOfKind::all) const;
  /// Returns the cheapest kernel of a planned kind, translated to the operators `ops`, a group of that kind.
  candidate::GroupKernel kernel(const GroupKind&, const std::vector<int>& ops) const;
  /// Returns the words of a note about fusing the operators `ops`: the estimated time of one kernel that computes them
  /// or, if there is no such kernel, the reason. If `plan_it` is true, also plans the kernels, and returns the reason
  /// if none can be planned.
  std::string reason(const std::vector<int>& ops, bool plan_it) const;

 private:
  /// Sets the kernels of a new kind, and its estimated time.
  void find_kernels(GroupKind&) const;

  const graph::KernelGraph& g_;
  const target::Target& target_;
  candidate::CostCache& costs_;
  candidate::Excerpts excerpts_;
  std::map<std::string, std::shared_ptr<GroupKind>> kinds_;  // by key
};

}  // namespace zellige::fuse
