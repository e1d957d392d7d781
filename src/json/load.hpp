// Loads graph files in Zellige's JSON form or in Mirage's, which it distinguishes by their content. A file
// has one graph or a list of graphs.
//
//   for (const KernelGraph& g : load("mugraphs/lora.json")) ...  // lora[0], ...; throws if one is invalid
//   for (const Loaded& l : load_each("mugraphs/lora.json")) ...  // each with its graph or error
#pragma once
#include "graph/graph.hpp"

namespace zellige::json {

/// One graph of a file, or the reason why it is invalid.
struct Loaded {
  std::string name;          // file stem and index: lora[0]
  graph::KernelGraph graph;  // validated, if `error` is empty
  std::string error;         // why the graph is invalid; "" if it is valid
};

/// Returns all graphs of a file; for an invalid graph, an error in its place. Throws Error if the file cannot
/// be read, or if it is neither a graph nor a list of graphs.
std::vector<Loaded> load_each(const std::string& path);
/// Returns all graphs of a file. Throws Error if a graph is invalid, or if the file cannot be read.
std::vector<graph::KernelGraph> load(const std::string& path);

/// Returns all graphs in a string, like load_each(). `source` names the string in messages; `stem` is the
/// prefix of the graphs' names.
std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem);

}  // namespace zellige::json
