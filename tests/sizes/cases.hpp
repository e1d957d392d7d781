// Graphs with sizes that are known at launch: a function of their values, and the ranges.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/builder.hpp"
#include "tile/number.hpp"

namespace zellige::test {

/// A graph for values of sizes, in the order of the list. Inputs' dimensions with sizes are in Size::of, as indices of inputs.
struct SizedCase {
  std::string name;
  tile::SizeList sizes;
  std::function<graph::KernelGraph(const tile::ValuesBySize&)> graph;
};

/// Returns the cases, of few elements, so that they can be interpreted at many values.
std::vector<SizedCase> sized_cases();

/// Returns the case's sizes for a graph of it, with tensors in place of the inputs' indices.
tile::SizeList of_graph(const SizedCase&, const graph::KernelGraph&);

/// Returns the largest values of the sizes that a launch gives.
tile::ValuesBySize largest(const tile::SizeList&);

/// Returns values of the sizes: the ends, multiples of tiles, one less and one more, and some at random.
std::vector<tile::ValuesBySize> sampled(const tile::SizeList&, std::size_t count, std::uint64_t seed);

}  // namespace zellige::test
