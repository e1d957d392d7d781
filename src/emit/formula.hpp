// The text of each elementwise operator: one row an operator, and nothing for those that have none.
#pragma once
#include <string>
#include <vector>

#include "plan/program.hpp"

namespace zellige::emit {

/// `node`, a map, of the operands' texts; every operand stands in it. Fails where the operator has no text, or the table of
/// operators promises another number of operands. `from`: the operands' dtype.
std::string formula(const plan::Node& node, const std::vector<std::string>& operands, plan::DType from);

}  // namespace zellige::emit
