// Reads and writes Zellige's JSON form of a kernel graph, version 1 (docs/reference/graph-json.md). Tensors are
// referenced by name. Shapes of results are not written but inferred, so that each graph has exactly one form.
//
//   std::string json = to_json(g);                                       // g is valid
//   KernelGraph again = from_json(parse_json(json, "a.json"), "a");      // "a": the name if the JSON has none
//
// Imports graphs of Mirage's form, too. Their inputs are named X0, X1, ..., outputs Y0, Y1, ..., and the tiles that a block
// loads from X0 are named X0_tile, X0_tile1, ... Mirage's smem_offset and layout are ignored.
#pragma once
#include "graph/graph.hpp"
#include "graph/json_text.hpp"

namespace zellige::json {

constexpr int json_version = 1;

/// Returns the JSON of a valid graph, one operator per line. Throws Error if the graph is not valid.
std::string to_json(const graph::KernelGraph&);
/// Returns the graph that the JSON describes. `name`: the graph's name if the JSON has none. Throws Error if
/// the JSON is not a valid graph.
graph::KernelGraph from_json(const graph::Json&, const std::string& name);
/// Returns whether the JSON is in Zellige's form, rather than Mirage's: an object with the key zellige_graph.
bool is_own_form(const graph::Json&);

/// Returns the validated graph of this name that the JSON describes in Mirage's form. Throws Error if it is invalid or not
/// supported: for unknown operators, all-reduce (more than one GPU), and mul_scalar and clamp (the file lacks their
/// constants); for a guid with two producers or two shapes, and for dimensions that contradict inference.
graph::KernelGraph from_mirage(const graph::Json& candidate, const std::string& name);
/// Returns whether the JSON looks like a graph in Mirage's form: a list of objects with the key op_type.
bool is_mirage_candidate(const graph::Json&);

}  // namespace zellige::json
