// Inputs that the user provides as .npy files.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/array.hpp"
#include "graph/inputs.hpp"
#include "graph/rows.hpp"

namespace zellige::run {

/// Input name and file, as passed to --input.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

/// Throws Error if an index is out of range, or is repeated where rows are written; `which` names the input.
void check_numbers(const graph::Numbers&, const graph::Array&, const std::string& which);

/// Throws Error if the graph has no such input, if a file cannot be read, or if its dtype or shape is not the
/// input's. NumPy has no bfloat16: such an input is provided as float32, and rounded.
graph::GivenInputs given_inputs(const graph::KernelGraph&, const InputFiles&);

}  // namespace zellige::run
