// Chooses how tiles are copied between global and shared memory: the instruction (cp.async, or a load and a store),
// the access width, and which thread copies which elements.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Number of loads per thread in flight together when tiles are copied through registers.
constexpr int loads_at_a_time = 8;

/// Returns the widest asynchronous copy (cp.async) with which every access along dimension `inner` is aligned in the
/// load's or store's tensor. If the target has none, returns the widest ordinary access that is aligned and divides
/// the tile's rows.
CopyChoice widest_copy(const Node&, const graph::KernelTensor&, int inner, const target::Target&);

/// Returns a copy element by element, for a tile and tensor that are contiguous along different dimensions.
CopyChoice single_copy(DType, const target::Target&);

/// Replaces a copy element by element, which unaligned rows need, by unaligned loads of full width (load_anywhere)
/// through registers. Returns the given copy if it is wider, or if rows are shorter than an access, or if elements have
/// more than 2 bytes.
CopyChoice anywhere(const CopyChoice&, const Node&, const graph::KernelTensor&, int inner,
                    const target::Target&);

/// Returns the blocked layout in which threads copy a load's tile of shape `padded`: adjacent threads have adjacent
/// accesses along `inner`, then along the other dimensions in order of the tensor's strides.
Context copy_context(const graph::KernelTensor&, const Shape& padded, int inner, const CopyChoice&,
                     int threads);

/// Returns whether accumulators are stored directly from registers to global memory, in complete 32-byte sectors,
/// rather than through shared memory. This holds for FMA matmuls and for float32 results of a chain of two wgmma
/// matmuls, if the accumulators are contiguous along `gmem_inner`, the tensor's contiguous dimension.
bool leaves_at_once(const KernelPlan&, const Node& store, const Context& accumulators, int gmem_inner);

/// Returns the shape of node `node`'s tile in shared memory, with the padding that the instructions of the matmuls
/// that read it access beyond the tile. The padding is filled with zeros.
Shape operand_padding(const KernelPlan&, int node);

}  // namespace zellige::plan
