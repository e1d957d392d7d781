// Loads graph files in our own JSON form or Mirage's, which are distinguished by their content. One file is a
// list of candidates.
//
//   for (const KernelGraph& g : load("mugraphs/lora.json")) ...  // lora[0], ...; throws at a bad one
//   for (const Loaded& l : load_each("mugraphs/lora.json")) ...  // each with its graph or error
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Loaded {
  std::string name;   // file stem and index: lora[0]
  KernelGraph graph;  // validated, if `error` is empty
  std::string error;
};

/// Throws Error if the file does not exist, or if it is not a list of graphs.
std::vector<Loaded> load_each(const std::string& path);
std::vector<KernelGraph> load(const std::string& path);

/// Loads from a string; `source` names it in messages, `stem` is the prefix of the graphs' names.
std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem);

}  // namespace zellige::graph
