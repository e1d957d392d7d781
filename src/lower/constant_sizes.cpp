#include "lower/constant_sizes.hpp"

#include "tile/size_expression.hpp"

namespace zellige::lower {
namespace {

std::int64_t at(const tile::SymbolicNumber& n, const tile::SizeList& sizes, std::span<const std::int64_t> values) {
  return n.is_constant() ? n.low() : tile::SizeExpression::of(n, sizes).at(values);
}

}  // namespace

void set_sizes(tile::TileProgram& kernel, const tile::TilePrograms& program, std::span<const std::int64_t> values) {
  const std::vector<tile::SymbolicNumber> grid = kernel.grid_of(program.sizes);
  const tile::TileProgram before = kernel;
  for (tile::Node& n : kernel.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      tile::Cut& cut = n.view.cuts[static_cast<std::size_t>(d)];
      if (cut.size < 0) continue;
      cut.extent = at(n.view.along(d, before).end(program.sizes), program.sizes, values) - cut.offset;
      cut.size = -1;
    }
  kernel.grid.x = at(grid[0], program.sizes, values);
  kernel.grid.y = at(grid[1], program.sizes, values);
  kernel.grid.z = at(grid[2], program.sizes, values);
}

void set_sizes(tile::TilePrograms& program, std::span<const std::int64_t> values) {
  for (tile::TileProgram& kernel : program.kernels) set_sizes(kernel, program, values);
  for (std::size_t t = 0; t < program.tensors.size(); ++t)
    for (std::size_t d = 0; d < program.tensors[t].shape.size(); ++d)
      program.tensors[t].shape[d] = at(program.extent(static_cast<int>(t), static_cast<int>(d)), program.sizes, values);
  program.sizes.clear();
}

}  // namespace zellige::lower
