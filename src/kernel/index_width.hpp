// Chooses for each tensor of a kernel whether element offsets and coordinates are computed in 32 bits, or in 64 bits
// because an access would exceed 2^31 - 1.
#pragma once
#include <limits>

#include "kernel/kernel.hpp"

namespace zellige::plan {

constexpr std::int64_t max_int32 = std::numeric_limits<std::int32_t>::max();

/// The largest coordinates and the largest offset that a load or store computes. They include the last tile's
/// elements beyond the tensor and its padding, whose addresses are computed although they are not accessed.
struct Reach {
  std::vector<std::int64_t> coordinate;  // by dimension
  std::int64_t offset = 0;               // in elements
  /// Returns whether one of the coordinates in the field `coordinate` exceeds 2^31 - 1.
  bool far() const;
};
/// Returns the largest coordinates and the largest offset that a load, store or mask node computes in its tensor.
/// Requires that the Node is an element of the plan's list of nodes, not a copy.
Reach reach(const Kernel&, const Node&, const graph::KernelTensor&);

/// Sets Kernel::wide to the tensors whose element offsets need 64 bits, and Kernel::far to the loads, stores
/// and masks whose coordinates need 64 bits. Requires that all tensors have strides. verify_bounds() checks the
/// result.
void index_width(Kernel&, const Program&);

}  // namespace zellige::plan
