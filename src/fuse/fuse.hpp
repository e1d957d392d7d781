// A graph of plain operators becomes one of few kernels that computes the same.
//
//   Optimized o = optimize(graph, target::find("sm_90a"));
//   o.graph      // the same inputs and outputs; what was fused is custom operators
//   o.kernels    // in launch order: which operators of the given graph each one does, its price and its floor
//   o.notes      // what was fused and what not, and why
//
// Operators meet in one kernel by rules whose conditions are decided on how they run through their dimensions (axes.hpp, body.hpp), and
// groups are chosen by price (choose.hpp). Custom operators stay as they are, or are taken apart before (custom.hpp). The graph that comes out is valid, and the planner
// takes it. docs/explanation/fusion.md says what is fused and what is not.
#pragma once
#include <string>
#include <vector>

#include "fuse/choose.hpp"
#include "graph/graph.hpp"
#include "plan/rejections.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

struct FusedKernel {
  std::string name;                    // of what it does: "rms_norm_matmul"
  std::vector<std::string> operators;  // of the given graph, in order: "t2 = mul"
  int op = -1;                         // index into the ops of the graph that comes out; of the first
  int parts = 1;                       // custom operators one after the other: 2 where blocks split a loop
  double price_us = 0;                 // of the plan; the first kernel pays for the launch of all
  double floor_us = 0;                 // what its bytes or its products take at least
};

struct Optimized {
  graph::KernelGraph graph;
  std::vector<FusedKernel> kernels;
  std::vector<std::string> notes;
  std::vector<std::string> limits{};  // of the search that were met; among the notes, too
  Work work{};                        // of choosing the groups
  plan::Rejections rejected{};        // plans of other ways
  bool apart = false;                 // of its custom operators, taken apart (custom.hpp)
};

/// Of a validated graph. Throws Error where the planner takes not even the graph as given: Rejected where the proof rejects its plan.
Optimized optimize(const graph::KernelGraph&, const target::Target&);
/// The same with the prices of graphs planned before, for this target; new ones are added.
Optimized optimize(const graph::KernelGraph&, const target::Target&, Prices& known, const Watch& = {},
                   Reasons = Reasons::told);

}  // namespace zellige::fuse
