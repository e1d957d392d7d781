#include "lower/sizes.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::lower {
namespace {

/// Gives the size to all nodes of a kernel whose tiles a digit of the blocks' index numbers: that of the interval `along`,
/// whose extent is the size.
void give(tile::TilePrograms& program, tile::TileProgram& kernel, tile::Size& size, const tile::Interval& along) {
  for (tile::Node& n : kernel.nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      tile::Cut& cut = n.view.cuts[d];
      if (!n.view.along(d, kernel).numbered_as(along)) continue;
      if (cut.loop || cut.offset != 0 || cut.of_part || cut.extent != size.high)
        fail("{}: {} is {}, and dimension {} of {} is not", kernel.name, size.name, size.high, d, n.name);
      cut.size = static_cast<int>(program.sizes.size()), cut.overhang = size.multiple % cut.tile != 0;
      if (!tile::accesses(n) || std::ranges::count(size.of, std::pair(n.tensor, d)) > 0) continue;
      if (std::ranges::count(program.inputs, n.tensor) > 0)
        fail("{}: dimension {} of {} is {}, too", kernel.name, d, n.name, size.name);
      size.of.emplace_back(n.tensor, d);
    }
}

}  // namespace

void give_size(tile::TilePrograms& program, tile::Size size) {
  for (const auto& [tensor, view] : program.views)
    if (std::ranges::count(size.of, view.base, &std::pair<int, int>::first) > 0)
      fail("{}: {} is seen as {}, of a constant shape", program.name, program.tensors[view.base].name,
           program.tensors[tensor].name);
  for (tile::TileProgram& kernel : program.kernels)
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i)
      for (int d = 0; d < kernel.nodes[i].view.rank(); ++d) {
        const tile::Node& n = kernel.nodes[i];
        if (!tile::accesses(n) || std::ranges::count(size.of, std::pair(n.tensor, d)) == 0) continue;
        const tile::Interval along = n.view.along(d, kernel);
        if (along.axis() < 0 || !along.top() || kernel.same_launch)
          fail("{}: the blocks do not divide dimension {} of {}, which is {}", kernel.name, d, n.name, size.name);
        give(program, kernel, size, along);
      }
  program.sizes.push_back(std::move(size));
}

}  // namespace zellige::lower
