// The operations that an expression may name: the library's tables, which list their operands
// (zellige/layout/signature.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>
#include <zellige/layout/evaluate.hpp>

namespace zellige::view {

/// An operand and its position in a longer expression.
struct Argument : Operand {
  std::size_t at = 0;
};

/// On layouts and numbers, on tensors, of instructions and tilings.
const std::vector<Operation>& operations();
Rows named(std::string_view name);
/// "; did you mean size?" for an unknown name, or "".
std::string near_operation(std::string_view name);
/// One line per name and kind of operands.
std::string list_of_operations();

}  // namespace zellige::view
