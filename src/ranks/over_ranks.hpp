// What a graph over ranks (graph/collective.hpp) computes: one graph without collectives, of the tensors of all ranks, or of whole
// tensors of which the ranks have parts.
//
//   KernelGraph all = over_ranks(g);   // inputs x@0, up@0, down@0, x@1, up@1, down@1; outputs y@0, y@1
//   KernelGraph one = unsharded(g, {{"up", 1}, {"down", 0}});   // inputs x, up, down: the whole tensors; output y
#pragma once
#include "graph/graph.hpp"

namespace zellige::ranks {

/// Returns the name of a rank's tensor in over_ranks(): "x@1".
std::string name_of_rank(const std::string& tensor, int rank);

/// Returns one graph without collectives that computes what all ranks compute. Its inputs and outputs are those of rank 0,
/// then those of rank 1, and so on. Throws Error if the graph asks for the rank's number and has no input. Precondition:
/// the graph is valid.
graph::KernelGraph over_ranks(const graph::KernelGraph&);

/// An input or output of which each rank has a part along dimension `dim`: the parts in order of ranks are the whole.
struct Shard {
  std::string tensor;
  int dim = 0;
  bool operator==(const Shard&) const = default;
};

/// Returns one graph without collectives that computes of whole inputs the whole outputs, as the ranks do it: each takes
/// its part of the inputs that `shards` lists, and all of the others; each has its part of the outputs that it lists, and
/// the others are taken from rank `from`. What several ranks compute of the same operands is there once. Throws Error if a
/// shard names no input or output, one twice, or a dimension that the tensor lacks, and as over_ranks() does.
graph::KernelGraph unsharded(const graph::KernelGraph&, const std::vector<Shard>& shards, int from = 0);

}  // namespace zellige::ranks
