// What the handle of a graph holds.
#pragma once
#include "graph/graph.hpp"
#include "zellige/api.h"

struct zellige_graph {
  zellige::graph::KernelGraph graph;  // validated
};
