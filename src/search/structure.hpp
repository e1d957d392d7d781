// Decides whether two graphs have the same operators on the same operands, up to names, order and duplicate
// computations. If so, the graphs are equal, whatever the operators mean.
#pragma once
#include "graph/graph.hpp"
#include "search/match.hpp"

namespace zellige::search {

/// Returns whether the graphs have the same structure. If they have not, they may be equal nevertheless.
bool same_structure(const KernelGraph& a, const KernelGraph& b, const Pairing&);

}  // namespace zellige::search
