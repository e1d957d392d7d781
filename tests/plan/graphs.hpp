// Small graphs, each with a special case of a pass.
#pragma once
#include <functional>

#include "graph/builder.hpp"
#include "passes.hpp"

namespace zellige::plan {

struct GoldenGraph {
  std::string name;
  std::vector<Pass> passes;  // those it is interesting for
  std::function<graph::KernelGraph()> graph;
  std::string target = "sm_80";
};

const std::vector<GoldenGraph>& golden_graphs();

/// The first graph of examples/NAME.json.
graph::KernelGraph example(const std::string& name);

}  // namespace zellige::plan
