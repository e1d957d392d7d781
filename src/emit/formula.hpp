// The C++ expression of each elementwise operator: a table with one row per operator that has one.
#pragma once
#include <string>
#include <vector>

#include "plan/program.hpp"

namespace zellige::emit {

/// Returns the expression of `node`, an elementwise node, with the operands' expressions inserted; each
/// operand is used. Throws if the operator has no row, or its number of operands differs from the table of
/// operators. `from`: the operands' dtype.
std::string formula(const plan::Node& node, const std::vector<std::string>& operands, plan::DType from);

}  // namespace zellige::emit
