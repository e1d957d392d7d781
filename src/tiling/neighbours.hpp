// The tilings of a custom operator of the user's that are near the one it has: other grids, loops and numbers of threads.
//
//   for (const auto& [us, tiling] : neighbours(graph, 0, target, 8)) ...   // of the first custom operator
#pragma once
#include <utility>
#include <vector>

#include "retile/tiling.hpp"
#include "target/target.hpp"

namespace zellige::tiling {

/// Returns at most `maximum` tilings of the graph that differ in custom operator number `which` of its tiling and fit the
/// target, each with its expected time in microseconds, the least first. All of them are proved to compute the same.
std::vector<std::pair<double, retile::Tiling>> neighbours(const graph::KernelGraph&, std::size_t which,
                                                          const target::Target&, std::size_t maximum);

}  // namespace zellige::tiling
