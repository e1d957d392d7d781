// Graph files: our own JSON form or Mirage's, told apart by what they hold. One file is a list of candidates.
//
//   for (const KernelGraph& g : load("mugraphs/lora.json")) ...     // lora[0], lora[1], ...; throws at the
//   first bad one for (const Loaded& l : load_each("mugraphs/lora.json")) ...     // each with its graph, or
//   with why it is refused
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Loaded {
  std::string name;   // file stem and index: lora[0]
  KernelGraph graph;  // validated, if `error` is empty
  std::string error;
};

/// Throws Error if there is no such file, or if it is not a list of graphs at all.
std::vector<Loaded> load_each(const std::string& path);
std::vector<KernelGraph> load(const std::string& path);

/// The same from a text; `source` names it in messages, `stem` the graphs.
std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem);

}  // namespace zellige::graph
