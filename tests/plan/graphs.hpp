// Small graphs, each with a special case of a pass.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/builder.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {

struct GoldenGraph {
  std::string name;
  std::function<graph::KernelGraph()> graph;
  std::string target = "sm_80";
};

const std::vector<GoldenGraph>& golden_graphs();

/// The first graph of examples/NAME.json.
graph::KernelGraph example(const std::string& name);

}  // namespace zellige::plan
