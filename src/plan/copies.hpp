// Copies: how wide each tile may cross between global and shared memory, and in which order of coordinates.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Of what threads load and store themselves, how many loads of each are under way together.
constexpr int loads_at_a_time = 8;

/// The target's widest asynchronous copy that a load may use along `inner` of its kernel-level tensor, such that every
/// chunk starts aligned; else its widest load and store. A tile's last chunk may be partial; nothing else may.
Copy widest_copy(const Node&, const graph::KernelTensor&, int inner, const target::Target&);

/// Element by element, where tile and tensor run along different dimensions.
Copy single_copy(DType, const target::Target&);

/// What crosses by the threads' own loads and stores, though it begins nowhere special: whole accesses all the same.
Copy anywhere(const Copy&, const Node&, const graph::KernelTensor&, int inner, const target::Target&);

/// The sweep in which a load's tile (padded to `padded`) is copied: chunks first, then by the tensor's strides.
Context copy_context(const graph::KernelTensor&, const Shape& padded, int inner, const Copy&, int threads);

/// Whether accumulators go straight to global memory: neighbouring lanes store what lies together there, in whole sectors. float32 sums of
/// a chain on warpgroups do (four lanes' pairs are a sector), since a stage in shared memory would be waited for once more.
bool leaves_at_once(const KernelPlan&, const Node& store, const Context& accumulators, int gmem_inner);

/// The shape of a tile with what a product's loads read past it: zeros.
Shape operand_padding(const KernelPlan&, int node);

}  // namespace zellige::plan
