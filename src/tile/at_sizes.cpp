#include "tile/at_sizes.hpp"

namespace zellige::tile {
namespace {

void set_node(Node& n, const ValuesBySize& values) {
  const auto set = [&](auto& number, int size) {
    if (size >= 0) number = values[static_cast<std::size_t>(size)];
  };
  for (Cut& cut : n.view.cuts) {
    set(cut.extent, cut.size);
    cut.size = -1, cut.multiple = 1, cut.all_tiles = false;
  }
  set(n.kept.tril, n.tril_size), set(n.kept.triu, n.triu_size), set(n.kept.length, n.length_size);
  set(n.scalar, n.count_size);
  n.tril_size = n.triu_size = n.length_size = n.count_size = -1;
}

}  // namespace

void set_sizes(TileProgram& kernel, const TilePrograms& program, const ValuesBySize& values) {
  const std::vector<SymbolicNumber> grid = kernel.grid_of(program.sizes);
  const SymbolicNumber iterations = kernel.iterations(program.sizes);
  kernel.grid = {grid[0].at(values), grid[1].at(values), grid[2].at(values)};
  kernel.loop = iterations.at(values);
  for (Node& n : kernel.nodes) set_node(n, values);
}

void set_sizes(TilePrograms& p, const ValuesBySize& values) {
  for (const auto& [tensor, strides] : p.strides)
    for (std::size_t d = 0; d < strides.size(); ++d) p.tensors[tensor].strides[d] = strides[d].at(values);
  for (std::size_t s = 0; s < p.sizes.size(); ++s)
    for (const auto& [tensor, dim] : p.sizes[s].of) {
      p.tensors[tensor].shape[dim] = values[s];
      if (const auto view = p.views.find(tensor); view != p.views.end()) view->second.shape[dim] = values[s];
    }
  p.sizes.clear(), p.strides.clear();
}

TilePrograms at_sizes(TilePrograms p, const ValuesBySize& given) {
  const ValuesBySize values = all_values(p.sizes, given);
  for (TileProgram& kernel : p.kernels) set_sizes(kernel, p, values);
  set_sizes(p, values);
  return p;
}

}  // namespace zellige::tile
