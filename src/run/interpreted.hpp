// Refuses a program that was read from a source unless its tile programs compute the graph.
#pragma once
#include "ir/ir.hpp"
#include "reference/inputs.hpp"

namespace zellige::run {

/// Interprets the program on the inputs (interpret/difference.hpp). Throws ir::Mistake, at the line of the store, if
///
/// - a stored tensor of the graph differs in real numbers, at these inputs or at 16 times the random ones;
/// - with the roundings of the kernels a stored tensor is wrong, as check_all() judges results.
///
/// What it does not throw at is proved for these inputs, for any others it is a trial. Precondition: the program has the graph's
/// inputs and outputs.
void require_computes(const ir::ReadProgram&, const graph::KernelGraph&, const reference::RandomInputs&);

}  // namespace zellige::run
