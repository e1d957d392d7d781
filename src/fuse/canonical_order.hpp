// Canonical operator order for candidate kernels: candidates that differ only in the order of independent
// parts become equal, so that one plan and one cost estimate serve all of them (for example the three
// two-expert groups of three equal experts).
#pragma once
#include "graph/graph.hpp"

namespace zellige::fuse {

/// Reorders the operators of a graph of one custom operator: independent parts (operators connected by more
/// than common loads) are sorted by what they compute instead of by their original position, so that graphs
/// that differ only in this become identical up to names. Within a part the order is kept, because plans
/// depend on it. Parts that compute the same keep their relative order. Returns any other graph unchanged.
graph::KernelGraph in_one_order(graph::KernelGraph);

}  // namespace zellige::fuse
