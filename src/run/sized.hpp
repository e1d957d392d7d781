// What the commands make of a graph with sizes that are known at launch (graph/sized_graph.hpp): the graph of constants that one run
// computes, and the sizes of a plan that is for all their values.
#pragma once
#include <optional>
#include <vector>

#include "graph/sized_graph.hpp"
#include "tile/program.hpp"

namespace zellige::run {

/// Returns the graph that a run with these values of sizes computes: each size omitted has its greatest typical value, else its
/// greatest one. A graph without sizes stays as it is. Throws Error if a name or a value is none of the graph's. This is the
/// only place where a run binds sizes.
graph::KernelGraph bound_graph(const graph::KernelGraph&, const graph::SizeValues& given);

/// Returns the values of a graph's sizes, in order, at which its inputs have these shapes; std::nullopt: a shape that is not known. Throws
/// Error if their number or ranks are others, and as tile::found_sizes() does.
std::vector<std::int64_t> values_of_shapes(const graph::KernelGraph&,
                                           const std::vector<std::optional<graph::Shape>>& inputs);

/// Returns the values of the sizes as a string, "T = 300, P = 16"; "" of a graph without sizes.
std::string text_of(const graph::SizeValues&);

/// Returns the sizes of a plan for all values, with the inputs' dimensions that they are. Throws Error if kernels need as a constant
/// what follows from a size: one sentence with the size, the dimension or attribute, and who needs it.
tile::SizeList plan_sizes(const graph::KernelGraph&);

/// Tries a program with sizes, which was planned for a graph, at values near the least ones: interprets its tile programs, and compares
/// them with the graph. Throws Error if they differ: then a constant of a kernel follows from a size. Large graphs are tried only if
/// they have means or masks along a size.
void try_sizes(const tile::TilePrograms&, const graph::KernelGraph&);

/// Returns the sizes with the dimensions of another graph's inputs, which are the same ones in the same order.
tile::SizeList moved(tile::SizeList, const std::vector<int>& inputs, const std::vector<int>& other_inputs);

}  // namespace zellige::run
