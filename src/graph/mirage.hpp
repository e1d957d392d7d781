// Imports Mirage's muGraph JSON: one candidate is a list of operators tied by guid.
//
//   KernelGraph g = from_mirage(json, "lora[0]");   // validated; throws Error
//
// Rejects unknown operators, mul_scalar and clamp (the file lost their constants), all-reduce (more than one
// GPU), a guid with two producers or two shapes, and stored dimensions that inference contradicts. Inputs are
// named X0, X1, ..., outputs Y0, Y1, ..., and a block's tiles of X0 X0_tile. Mirage's smem_offset and layout
// are ignored.
#pragma once
#include "graph/graph.hpp"
#include "graph/json_text.hpp"

namespace zellige::graph {

KernelGraph from_mirage(const Json& candidate, const std::string& name);

/// Returns whether the JSON looks like Mirage's form: a list of operators, or a list of such lists.
bool is_mirage_candidate(const Json&);

}  // namespace zellige::graph
