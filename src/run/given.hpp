// Inputs that the user gives, as .npy files.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/array.hpp"
#include "graph/inputs.hpp"
#include "graph/rows.hpp"

namespace zellige::run {

/// Input name and file, as --input has them.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

/// Fails where a number names no row, or one again that is written; `which` says whose numbers they are.
void check_numbers(const graph::Numbers&, const graph::Array&, const std::string& which);

/// Fails where the graph has no such input, where a file cannot be read, or where its dtype or shape is not the input's. NumPy has
/// no bfloat16: such an input is given as float32, and rounded.
graph::GivenInputs given_inputs(const graph::KernelGraph&, const InputFiles&);

}  // namespace zellige::run
