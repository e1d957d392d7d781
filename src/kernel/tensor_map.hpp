// Decides whether TMA can copy a tile between a tensor in global memory and shared memory, and describes
// the TMA descriptor (tensor map) for it. TMA copies a tile in one or more boxes.
//
//   // node: a load or store of the kernel, with index `id`; inner: the contiguous dimension of its tile
//   if (const std::string why = no_tensor_map(node, tensor, inner); why.empty())
//     TensorMap map = tensor_map(plan, program, id);     // {.box = {64, 128}, .swizzle_bytes = 128, ...}
//
// Dimensions are in TMA's order, which is that of a buffer in shared memory: inner_first() (kernel/context.hpp).
#pragma once
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Bytes of a row that TMA swizzles and wgmma reads as a unit: the widest swizzle of their rows (target/pipe.hpp).
inline constexpr std::int64_t span_bytes = 128;

/// The arguments of cuTensorMapEncodeTiled, by dimension in TMA's order.
struct TensorMap {
  int tensor = -1;  // index into TilePrograms::tensors
  DType dtype{};
  // In elements; reads beyond it return zero, writes beyond it are dropped.
  std::vector<std::int64_t> extent;
  std::vector<std::int64_t> stride;  // in bytes
  std::vector<std::int64_t> box;     // in elements
  int swizzle_bytes = 0;             // 32, 64 or 128, or 0 for none
  bool operator==(const TensorMap&) const = default;
};

/// Returns why TMA cannot copy the tile of a load or store whose rows run along dimension `inner`, and are whole spans of `span` bytes of
/// a swizzle; "" if it can.
std::string no_tensor_map(const tile::Node&, const graph::KernelTensor&, int inner, std::int64_t span = span_bytes);

/// Returns the tensor map for the load or store `node`. Requires that the plan copies its tile by TMA.
TensorMap tensor_map(const Kernel&, const tile::TilePrograms&, int node);

/// Returns the extents of that tensor map, which sizes that are known at launch may decide.
std::vector<tile::SymbolicNumber> tensor_map_extents(const Kernel&, const tile::TilePrograms&, int node);
/// Returns the strides of that tensor map, in bytes.
std::vector<tile::SymbolicNumber> tensor_map_strides(const Kernel&, const tile::TilePrograms&, int node);

/// Returns the number of boxes that one block of a cluster copies: fewer than the tensor's if the blocks share the
/// load or store.
std::int64_t boxes_of_block(const Kernel&, const Work& copy);

}  // namespace zellige::kernel
