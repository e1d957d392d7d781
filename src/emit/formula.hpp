// Formats elementwise operators as C++ expressions, from the table in graph/elementwise.hpp.
#pragma once
#include <string>
#include <vector>

#include "graph/reductions.hpp"
#include "tile/program.hpp"

namespace zellige::emit {

/// Returns the C++ expression of an elementwise node, with the operands' expressions inserted. `from` is
/// the operands' dtype. Throws Error if the operator is not elementwise, has no expression for this dtype,
/// or has a wrong number of operands.
std::string formula(const tile::Node& node, const std::vector<std::string>& operands, graph::DType from);

/// Returns the C++ function that joins two floats as the monoid does, for a kernel's functions that take one.
std::string join_source(const graph::Monoid&);

}  // namespace zellige::emit
