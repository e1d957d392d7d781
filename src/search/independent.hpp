// Whether what a graph computes along a dimension with a size is computed independently for each element of it, as rows are.
//
//   independent(g, "T")   // g: Y(T, 64) = softmax(X(T, 32) W): true; no row of Y depends on another row of X
//
// A graph whose dimension T is independent computes for T = 100 what it computes for T = 1, a hundred times, of the parts of its inputs
// along T. So two graphs for which that holds are equal for all values of T if they are equal for one.
#pragma once
#include <string_view>

#include "graph/sized_graph.hpp"

namespace zellige::search {

/// Returns whether each tensor of the graph has at most one dimension that depends on the size, its extent is the size itself, each
/// operator computes each element along it of that element of its operands, and inputs and outputs have the dimension. False if
/// the operator is not known to.
bool independent(const graph::KernelGraph&, std::string_view size);

}  // namespace zellige::search
