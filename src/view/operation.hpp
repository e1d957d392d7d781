// The operations that a text may name: the rows of the library's tables, which say what they take
// (zellige/layout/signature.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/evaluate.hpp>

namespace zellige::view {

/// An operand and where it stands in a longer text.
struct Argument : Operand {
  std::size_t at = 0;
};

/// On layouts and numbers, on tensors, of instructions and tilings.
const std::vector<Operation>& operations();
Rows named(std::string_view name);
/// "; did you mean size?" for a name that no row has, or "".
std::string near_operation(std::string_view name);
/// A line for every name and every kind of operands that it takes.
std::string list_of_operations();

}  // namespace zellige::view
