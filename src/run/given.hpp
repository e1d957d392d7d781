// Reads the input tensors of a run that the user provides as .npy files.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/rows.hpp"
#include "reference/array.hpp"
#include "reference/inputs.hpp"

namespace zellige::run {

/// Pairs of an input's name and a file, as --input takes them.
using InputFiles = std::vector<std::pair<std::string, std::string>>;

/// Returns the position of the input `name` among the graph's inputs. Throws Error if there is none; `option` says in
/// the message who names it, such as "--input gives".
std::size_t input_named(const graph::KernelGraph&, const std::string& name, std::string_view option);

/// Checks the values of an input that a gather or scatter reads as row indices. Throws Error if an index is
/// not below Numbers::rows, or if an index occurs twice although Numbers::distinct is true, as for a scatter.
/// `which` names the input in messages. Checks every index, because a sampled check of the outputs might not depend on
/// the wrong ones.
void check_numbers(const graph::Numbers&, const reference::Array&, const std::string& which);

/// Returns the input tensors that are read from .npy files. Throws Error if InputFiles names an input that the graph
/// lacks, if a file cannot be read, if its dtype or shape is not the input's, or if check_numbers throws. For a dtype
/// that NumPy lacks, such as bfloat16, the file must hold float32, whose values are rounded to the input's dtype.
reference::GivenInputs given_inputs(const graph::KernelGraph&, const InputFiles&);

}  // namespace zellige::run
