// Fuses a graph of primitive operators into few kernels that compute the same.
//
//   Optimized o = optimize(graph, target::find("sm_90a"));
//   o.graph      // the same inputs and outputs; each fused group is a custom operator
//   o.kernels    // in launch order: which operators of the input graph each computes, its estimated time and roofline bound
//   o.notes      // what was fused, what was not, and why
//
// Operators are fused by rules on how they iterate over their dimensions (axes.hpp, body.hpp), and groups are
// selected by estimated cost (choose.hpp). Custom operators are kept or decomposed first (custom.hpp). The
// resulting graph is valid and can be planned. docs/explanation/fusion.md lists what is fused and what is
// not.
#pragma once
#include <string>
#include <vector>

#include "fuse/choose.hpp"
#include "graph/graph.hpp"
#include "plan/rejections.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

struct FusedKernel {
  std::string name;                    // made from its operators: "rms_norm_matmul"
  std::vector<std::string> operators;  // of the input graph, in order: "t2 = mul"
  int op = -1;                         // index of its first operator in the result's ops
  // Consecutive custom operators: 2 if the loop is split over blocks (split-K).
  int parts = 1;
  double estimated_us = 0;  // estimated; the first kernel includes the launch of all
  double floor_us = 0;      // roofline bound of its bytes and matmuls
};

struct Optimized {
  graph::KernelGraph graph;
  std::vector<FusedKernel> kernels;
  std::vector<std::string> notes;
  std::vector<std::string> limits{};  // search limits that were reached; also in the notes
  Work work{};                        // statistics of the search for groups
  plan::Rejections rejected{};        // rejected plans of variants that were not taken
  bool decomposed = false;            // its custom operators were decomposed (custom.hpp)
};

/// `graph` must be validated. Throws Error if not even the unfused graph can be planned: Rejected if the
/// verifier rejects its plan.
Optimized optimize(const graph::KernelGraph&, const target::Target&);
/// The same with a cache of estimated costs for this target, to which new ones are added.
Optimized optimize(const graph::KernelGraph&, const target::Target&, CostCache& known, const Watch& = {},
                   Reasons = Reasons::told);

}  // namespace zellige::fuse
