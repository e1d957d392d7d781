// Whether element offsets and coordinates are computed in 32 bits, or in 64 bits because an access would exceed
// 2^31 - 1. It follows from the ranges of the coordinates.
#pragma once
#include <limits>
#include <set>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

constexpr std::int64_t max_int32 = std::numeric_limits<std::int32_t>::max();

/// The largest coordinate and the largest offset that a load or store computes. They include the last tile's
/// elements beyond the tensor and its padding, whose addresses are computed although they are not accessed.
struct IndexReach {
  std::int64_t coordinate = 0, offset = 0;                   // in elements
  bool far() const { return coordinate > max_int32; }        // its coordinates need 64 bits
  bool wide() const { return offset > max_int32 || far(); }  // the tensor's offsets do
};
/// Returns the largest coordinate and offset that a load, store or mask node computes in its tensor; without a tensor,
/// the largest coordinate of its tiles. Requires that the Node is an element of the plan's list of nodes, not a copy.
IndexReach reach(const Kernel&, const tile::Node&, const graph::KernelTensor* tensor = nullptr);

/// Returns the tensors of the kernel whose element offsets need 64 bits. Requires that all tensors have strides.
std::set<int> wide_tensors(const Kernel&, const tile::TilePrograms&);

}  // namespace zellige::kernel
