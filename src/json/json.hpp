// Reads and writes Zellige's JSON form of a kernel graph, version 1 (docs/reference/graph-json.md). Tensors are
// referenced by name. Shapes of results are not written but inferred, so that each graph has exactly one form.
//
//   std::string json = to_json(g);                                       // g is valid
//   KernelGraph again = from_json(parse_json(json, "a.json"), "a");      // "a": the name if the JSON has none
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

}  // namespace zellige::json
