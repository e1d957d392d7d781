// Tensor maps: the TMA descriptor with which a load's or store's tile of a kernel-level tensor is copied box
// by box.
//
//   if (const std::string why = no_tensor_map(node, tensor, inner); why.empty())
//     TensorMap map = tensor_map(plan, program, id);     // {.box = {64, 128}, .swizzle_bytes = 128, ...}
//
// Dimensions are in TMA's order: the contiguous one first, the others from last to first, as a buffer's rows
// are stored.
#pragma once
#include <string>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The bytes of a row that TMA swizzles and WGMMA reads as a unit.
inline constexpr std::int64_t span_bytes = 128;

struct TensorMap {
  int tensor = -1;  // of the program
  DType dtype{};
  std::vector<std::int64_t> extent;  // elements; out of bounds reads return zero and writes are dropped
  std::vector<std::int64_t> stride;  // bytes, for every dimension except the first
  std::vector<std::int64_t> box;     // elements
  int swizzle_bytes = 0;
  bool operator==(const TensorMap&) const = default;
};

/// The node's dimensions in TMA's order.
std::vector<int> map_order(const Node&, int inner);

/// Why TMA cannot copy the tile of a load or store whose rows run along `inner`; empty if it can.
std::string no_tensor_map(const Node&, const graph::KernelTensor&, int inner);

/// The tensor map of a load or store that is copied by TMA.
TensorMap tensor_map(const KernelPlan&, const Program&, int node);

/// Number of boxes of one tile, or of a rank's part of it; they are adjacent along the contiguous dimension.
/// The last one may extend beyond the tile.
std::int64_t boxes(const Buffer&);
std::int64_t boxes_of_rank(const KernelPlan&, int node, const Buffer&);

}  // namespace zellige::plan
