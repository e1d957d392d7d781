// Builds the kernels that can compute a group of operators, one per tiling, and estimates their times from sketches. A
// kernel is one custom operator (an operator with a block graph), or several if its loop is split over blocks.
//
//   std::string why;                                                      // the reason, if there is no kernel
//   std::vector<GroupKernel> ks = kernels_of(graph, /*ops=*/{2, 3, 4}, target, why);
//   ks[0].us                               // expected time in microseconds, of its sketch (plan::sketch)
//   ks[0].parts[0].block                   // the block graph of its first launch
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "retile/tiling.hpp"
#include "rewrite/graph_words.hpp"
#include "target/target.hpp"

namespace zellige::candidate {

/// Suffix of a tensor's name for its partial results, which are stored between two kernels.
constexpr const char* parts_suffix = "_parts";

/// A tensor that a block graph loads or stores, with the shape that the block graph sees: reduced dimensions are kept as 1,
/// and contiguous dimensions may be merged (coalesce.cpp). Reshapes before and after the operator make the difference.
struct SeenTensor {
  int tensor = -1;  // of the graph; numbers beyond its last one are tensors of GroupKernel::between
  graph::Shape shape{};
};

/// One launch of a kernel: a custom operator.
struct LaunchPart {
  std::shared_ptr<const graph::BlockGraph> block;
  std::vector<SeenTensor> loads, stores;
};

/// One way to compute a group of operators, as one to three launches.
struct GroupKernel {
  std::vector<int> ops;                        // of the graph, in order
  std::vector<LaunchPart> parts;               // one, or two or three if the loop is split over blocks
  std::vector<graph::KernelTensor> between{};  // what one part stores for later parts
  std::optional<retile::MatmulTile> shape{};   // the tile of its matmuls, if it has any and no loop is split
  // Expected time in microseconds, of its sketch, if it is launched right after another kernel.
  double us = 0;
};

/// Returns the kernels that can compute the operators `ops` together, in order of estimated time. If no rule
/// makes one block graph of the operators, returns no kernel and sets `why` to the reason. If `tiles` are given, only kernels
/// in which the group's matmul has one of them, and no loop is split over blocks.
std::vector<GroupKernel> kernels_of(const graph::KernelGraph&, const std::vector<int>& ops, const target::Target&,
                                    std::string& why, const std::vector<retile::MatmulTile>& tiles = {});

}  // namespace zellige::candidate
