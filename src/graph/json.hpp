// Zellige's JSON form of a kernel graph, version 1 (docs/reference/graph-json.md). Tensors are referenced by
// name; the shapes of results are inferred, so that graphs and their JSON correspond one to one.
//
//   std::string json = to_json(g);                 // g valid
//   KernelGraph again = from_json(parse_json(json, "here"), "here");
#pragma once
#include "graph/graph.hpp"
#include "graph/json_text.hpp"

namespace zellige::graph {

constexpr int json_version = 1;

std::string to_json(const KernelGraph&);
/// Returns the validated graph; throws Error. `name` is used if the JSON has none.
KernelGraph from_json(const Json&, const std::string& name);
bool is_own_form(const Json&);

}  // namespace zellige::graph
