// Copies: how wide each tile may cross between global and shared memory, and in which order of coordinates.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Widest access, in elements, that a load or store may use along `inner` of its kernel-level tensor: a power of two of
/// at most 16 bytes such that every chunk starts aligned. A tile's last chunk may be partial; nothing else may.
Copy widest_copy(const Node&, const graph::KernelTensor&, int inner);

/// The sweep in which a load's tile (padded to `padded`) is copied: chunks first, then by the tensor's strides.
Context copy_context(const graph::KernelTensor&, const Shape& padded, int inner, const Copy&);

}  // namespace zellige::plan
