// Lists the operations that an expression may name: the library's tables of operations with the kinds of
// their operands (zellige/layout/signature.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/evaluate.hpp>

namespace zellige::view {

/// An operand, and its position in the expression, for messages.
struct Argument : Operand {
  std::size_t at = 0;
};

/// Returns all operations: on layouts and numbers, on tensors, and of instructions and tilings.
const std::vector<Operation>& operations();
/// Returns the operations with this name, one per kind of operands; empty if there is none.
Rows named(std::string_view name);
/// Returns "; did you mean size?" for an unknown name, or "" if no name is similar.
std::string near_operation(std::string_view name);
/// Returns the list that `zellige layout --list` prints: one line per name and kind of operands.
std::string list_of_operations();

}  // namespace zellige::view
