#include "tile/at_sizes.hpp"

#include <algorithm>
#include <iterator>

#include "tile/size_expression.hpp"

namespace zellige::tile {
namespace {

void set_node(Node& n, const ValuesBySize& values) {
  const auto set = [&](auto& number, int size) {
    if (size >= 0) number = values[static_cast<std::size_t>(size)];
  };
  for (Cut& cut : n.view.cuts) {
    set(cut.extent, cut.size), set(cut.offset, cut.begin);
    cut.begin = -1, cut.begin_unit = 1;
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
  for (auto& [tensor, view] : p.views) {
    for (const auto& [dim, size] : view.start_sizes) view.starts[dim] = values[static_cast<std::size_t>(size)];
    view.start_sizes.clear();
  }
  for (std::size_t s = 0; s < p.sizes.size(); ++s)
    for (const auto& [tensor, dim] : p.sizes[s].of) {
      p.tensors[tensor].shape[dim] = values[s];
      if (const auto view = p.views.find(tensor); view != p.views.end())
        view->second.shape[dim] = values[s] - view->second.starts[dim];
    }
  p.sizes.clear(), p.strides.clear();
}

void take_all_tiles(TileProgram& p) {
  for (Node& n : p.nodes)
    for (Cut& cut : n.view.cuts)
      if (cut.size >= 0 && cut.axis >= 0) cut.all_tiles = cut.overhang = true;
}

std::set<std::string> sizes_of_rows(const TilePrograms& p, std::int64_t elements) {
  SizeList given;
  std::ranges::copy_if(p.sizes, std::back_inserter(given), [](const Size& s) { return !s.computed; });
  std::set<std::string> names;
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t)
    for (int d = 0; d < static_cast<int>(p.tensors[static_cast<std::size_t>(t)].strides.size()); ++d) {
      const SymbolicNumber stride = p.stride(t, d);
      if (stride.is_constant() || stride.divisor() % elements == 0) continue;
      for (const int s : SizeExpression::of(stride, given).sizes())
        names.insert(given[static_cast<std::size_t>(s)].name);
    }
  return names;
}

TilePrograms at_sizes(TilePrograms p, const ValuesBySize& given) {
  const ValuesBySize values = all_values(p.sizes, given);
  for (TileProgram& kernel : p.kernels) set_sizes(kernel, p, values);
  set_sizes(p, values);
  return p;
}

}  // namespace zellige::tile
