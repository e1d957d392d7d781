#include "json/load.hpp"

#include "json/candidates.hpp"

namespace zellige::json {
namespace {

std::vector<Loaded> all_of(GraphFile file) {
  std::vector<Loaded> graphs;
  while (std::optional<Loaded> l = file.next()) graphs.push_back(std::move(*l));
  return graphs;
}

}  // namespace

std::vector<Loaded> load_text(std::string_view text, std::string_view source, const std::string& stem) {
  return all_of(GraphFile(text, std::string(source), stem));
}

std::vector<Loaded> load_each(const std::string& path) { return all_of(GraphFile(path)); }

std::vector<graph::KernelGraph> load(const std::string& path) {
  std::vector<graph::KernelGraph> graphs;
  for (Loaded& l : load_each(path)) {
    if (!l.error.empty()) throw Error(l.error);
    graphs.push_back(std::move(l.graph));
  }
  return graphs;
}

}  // namespace zellige::json
