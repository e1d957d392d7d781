// Our own JSON form of a kernel graph, version 1 (docs/reference/graph-json.md). Tensors are called by name; the shapes of
// what operators make are inferred, so that a graph has one text and a text one graph.
//
//   std::string text = to_json(g);                 // g valid
//   KernelGraph again = from_json(parse_json(text, "here"), "here");
#pragma once
#include "graph/graph.hpp"
#include "graph/json_text.hpp"

namespace zellige::graph {

constexpr int json_version = 1;

std::string to_json(const KernelGraph&);
/// Validated; throws Error. `name` serves where the text gives none.
KernelGraph from_json(const Json&, const std::string& name);
bool is_own_form(const Json&);

}  // namespace zellige::graph
