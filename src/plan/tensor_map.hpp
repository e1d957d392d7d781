// Tensor maps: what TMA must know of a kernel-level tensor to bring a load's tile, or take a store's, box by box.
//
//   if (const std::string why = no_tensor_map(node, tensor, inner); why.empty())
//     TensorMap map = tensor_map(plan, program, id);     // {.box = {64, 128}, .swizzle_bytes = 128, ...}
//
// Dimensions are TMA's: the contiguous one first, the others from the last to the first, as a buffer's rows lie.
#pragma once
#include <string>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The bytes of a line that TMA swizzles and WGMMA reads as one.
inline constexpr std::int64_t span_bytes = 128;

struct TensorMap {
  int tensor = -1;  // of the program
  DType dtype{};
  std::vector<std::int64_t> extent;  // elements; what lies past it reads as zero and is not written
  std::vector<std::int64_t> stride;  // bytes, of every dimension but the first
  std::vector<std::int64_t> box;     // elements
  int swizzle_bytes = 0;
  bool operator==(const TensorMap&) const = default;
};

/// The node's dimensions in TMA's order.
std::vector<int> map_order(const Node&, int inner);

/// Why TMA cannot bring or take a load's or store's tile whose lines run along `inner`; empty where it can.
std::string no_tensor_map(const Node&, const graph::KernelTensor&, int inner);

/// Of a load or store that travels by TMA into or out of its buffer.
TensorMap tensor_map(const KernelPlan&, const Program&, int node);

/// Boxes of one tile, or of a rank's part of it: they lie side by side along the contiguous dimension. The last one may pass the
/// tile's end.
std::int64_t boxes(const Buffer&);
std::int64_t boxes_of_rank(const KernelPlan&, int node, const Buffer&);

}  // namespace zellige::plan
