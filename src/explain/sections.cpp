#include "explain/sections.hpp"

#include <fmt/ranges.h>

#include "tile/sections.hpp"

namespace zellige::explain {
namespace {

/// Returns an operation as it is called in the sentence; "" for what only moves or rounds values.
std::string word(const tile::Node& n) {
  using tile::NodeKind;
  switch (n.kind) {
    case NodeKind::map:
      return std::string(graph::name(n.op));
    case NodeKind::reduce:
    case NodeKind::matmul:
    case NodeKind::rotate:
    case NodeKind::running_max:
      return fmt::format("{} ({})", n.kind == NodeKind::reduce ? graph::name(n.op) : tile::name(n.kind), n.name);
    default:
      return "";
  }
}

}  // namespace

std::string in_words(const tile::TileProgram& p) {
  const tile::Sections sections(p);
  std::string all;
  for (const tile::Section at : {tile::Section::before, tile::Section::inside, tile::Section::after}) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < p.nodes.size(); ++i)
      if (std::string w = word(p.nodes[i]); !w.empty() && sections.of(static_cast<int>(i)) == at)
        words.push_back(std::move(w));
    if (words.empty()) continue;
    const std::string where = p.loop <= 1                   ? "There is no loop"
                              : at == tile::Section::before ? "Before the loop"
                              : at == tile::Section::inside ? fmt::format("In each of {} iterations", p.loop)
                                                            : "After the loop";
    all += fmt::format("{}{}: {}", all.empty() ? "" : ". ", where, fmt::join(words, ", "));
  }
  return all;
}

}  // namespace zellige::explain
