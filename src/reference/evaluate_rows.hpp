// Evaluates the operators that address rows by integer index (graph/rows.hpp) on float64 arrays.
#pragma once
#include "reference/evaluate.hpp"

namespace zellige::graph {

/// Evaluates gather, scatter or slice_scatter on float64 arrays and writes the result. Throws Error if an
/// index is out of range, or if scatter writes a row twice.
void evaluate_rows(OpKind, const Attributes&, const std::vector<Operand>&, const Result&);

}  // namespace zellige::graph
