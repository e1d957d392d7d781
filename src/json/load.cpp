#include "json/load.hpp"

#include "json/candidates.hpp"

namespace zellige::graph {
namespace {

std::vector<Loaded> all_of(Candidates file) {
  std::vector<Loaded> graphs;
  while (std::optional<Loaded> l = file.next()) graphs.push_back(std::move(*l));
  return graphs;
}

}  // namespace

std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem) {
  return all_of(Candidates(text, std::string(source), stem));
}

std::vector<Loaded> load_each(const std::string& path) { return all_of(Candidates(path)); }

std::vector<KernelGraph> load(const std::string& path) {
  std::vector<KernelGraph> graphs;
  for (Loaded& l : load_each(path)) {
    if (!l.error.empty()) throw Error(l.error);
    graphs.push_back(std::move(l.graph));
  }
  return graphs;
}

}  // namespace zellige::graph
