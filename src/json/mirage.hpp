// Imports muGraph JSON files of Mirage, a superoptimizer of tensor programs. A graph is a list of operators,
// which refer to tensors by guid.
//
//   KernelGraph g = from_mirage(json, "lora[0]");   // validated; throws Error
//
// Throws Error for unknown operators, all-reduce (more than one GPU), and mul_scalar and clamp (the file
// lacks their constants). Also throws Error for a guid with two producers or two shapes, and for dimensions
// that contradict inference. Inputs are named X0, X1, ..., outputs Y0, Y1, ..., and the tiles that a block loads
// from X0 are named X0_tile, X0_tile1, ... Mirage's smem_offset and layout are ignored.
#pragma once
#include "graph/graph.hpp"
#include "graph/json_text.hpp"

namespace zellige::json {

/// Returns the validated graph of this name that the JSON describes. Throws Error if it is invalid or not supported.
graph::KernelGraph from_mirage(const graph::Json& candidate, const std::string& name);

/// Returns whether the JSON looks like a graph in Mirage's form: a list of objects with the key op_type.
bool is_mirage_candidate(const graph::Json&);

}  // namespace zellige::json
