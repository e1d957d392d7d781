// Lists the operations that expressions of `zellige layout` may call, such as composition or logical_divide.
// They are taken from the library's tables, which have each operation's names and the kinds of its operands
// (zellige/layout/signature.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/evaluate.hpp>

namespace zellige::view {

/// An operand, and its position in the expression, for messages.
struct PlacedOperand : ParsedOperand {
  std::size_t at = 0;
};

/// Returns all operations: those on layouts and numbers, those on tensors, and those on instructions (atoms)
/// and tiled copies and MMAs.
const std::vector<Operation>& operations();
/// Returns the operations with this name, one per kind of operands; empty if there is none.
Rows named(std::string_view name);
/// Returns a hint for an unknown name, such as "; did you mean size?", or "" if no operation has a similar name.
std::string near_operation(std::string_view name);
/// Returns the list that `zellige layout --list` prints: one line per name and kind of operands.
std::string list_of_operations();

}  // namespace zellige::view
