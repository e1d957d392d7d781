// Fuses a graph of kernel-level operators into few kernels that compute the same.
//
//   Optimized o = optimize(graph, target::find("sm_90a"));
//   o.graph      // the same inputs and outputs; each fused group is a custom operator
//   o.kernels    // in launch order: each kernel's operators of the input graph, expected time, roofline bound
//   o.notes      // what was fused, what was not, and why
//
// Operators are fused by rules on how they iterate over their dimensions (axes.hpp, body.hpp), and groups are selected
// by expected time (choose.hpp). Custom operators are kept; custom.hpp can decompose them first. The resulting graph is
// valid and can be planned. docs/explanation/fusion.md lists what is fused and what is not.
#pragma once
#include <string>
#include <vector>

#include "fuse/choose.hpp"
#include "kernel/rejections.hpp"
#include "rewrite/graph_words.hpp"
#include "rules/rule.hpp"
#include "target/target.hpp"

namespace zellige::fuse {

/// A kernel of the fused graph, for messages and reports.
struct FusedKernel {
  std::string name;                    // made from its operators: "rms_norm_matmul"
  std::vector<std::string> operators;  // of the input graph, in order: "t2 = mul"
  int op = -1;                         // index of its first operator in the result's ops
  // Number of consecutive custom operators that it consists of: 2 or 3 with a loop split over blocks (split-K), else 1.
  int parts = 1;
  double estimated_us = 0;  // expected time in microseconds, when another kernel runs before it
  double floor_us = 0;      // roofline bound in microseconds, of its bytes and matmuls
};

/// The fused graph, and how it was found.
struct Optimized {
  graph::KernelGraph graph;
  std::vector<FusedKernel> kernels;
  std::vector<std::string> notes;     // what was fused, what was not, and why
  std::vector<std::string> limits{};  // search limits that were reached; also in the notes
  SearchWork work{};                  // statistics of the search for groups
  kernel::Rejections rejected{};      // the verifier's messages on plans that were not used
  bool decomposed = false;            // the input graph's custom operators were decomposed (custom.hpp)
  std::vector<std::string> rules{};   // that rewrote the graph before it was fused, each once (rules/table.hpp)
};

/// Applies the rules of a level to a graph, until none applies or `watch` ends it. Returns whether one has applied. An
/// application that is taken back (rewrite/measure.hpp) is recorded in `known`, like a rejected plan: a fault of ours. `applied` receives
/// the names of the rules.
bool apply(rules::Level, graph::KernelGraph&, const rewrite::Watch&, candidate::CostCache& known,
           std::vector<std::string>* applied = nullptr);

/// Returns the fused graph. `graph` must be validated. Throws Error if not even the unfused graph can be
/// planned, and Rejected if the verifier rejects its plan. `known`: costs for this target, to which new ones are added.
/// `Watch` receives the progress and may end the search. With Reasons::told, notes say why operators were not fused.
/// `declared`: the tiling of a file (declared.hpp), which is applied to the fused graph.
Optimized optimize(const graph::KernelGraph&, const target::Target&);
Optimized optimize(const graph::KernelGraph&, const target::Target&, candidate::CostCache& known,
                   const rewrite::Watch& = {}, Reasons = Reasons::told,
                   const std::optional<retile::Tiling>& declared = {});

}  // namespace zellige::fuse
