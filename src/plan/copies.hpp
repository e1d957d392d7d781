// Chooses for each tile the access width of its copy between global and shared memory, and the order of
// coordinates.
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Number of loads per thread in flight together when threads load and store themselves.
constexpr int loads_at_a_time = 8;

/// The target's widest asynchronous copy for a load along `inner` of its kernel-level tensor such that every
/// chunk is aligned; otherwise its widest load and store. Only a tile's last chunk may be partial.
CopyChoice widest_copy(const Node&, const graph::KernelTensor&, int inner, const target::Target&);

/// A copy element by element, for a tile and tensor that are contiguous along different dimensions.
CopyChoice single_copy(DType, const target::Target&);

/// Whole-width accesses by the threads' own loads and stores, for unaligned rows.
CopyChoice anywhere(const CopyChoice&, const Node&, const graph::KernelTensor&, int inner,
                    const target::Target&);

/// The blocked layout in which a load's tile (padded to `padded`) is copied: chunks first, then by the
/// tensor's strides.
Context copy_context(const graph::KernelTensor&, const Shape& padded, int inner, const CopyChoice&,
                     int threads);

/// Returns whether accumulators are stored directly to global memory: adjacent lanes store contiguous
/// elements, in whole sectors. The float32 accumulators of a chain on warpgroups are (the pairs of four lanes
/// are a sector), because staging in shared memory would cost one more wait.
bool leaves_at_once(const KernelPlan&, const Node& store, const Context& accumulators, int gmem_inner);

/// The shape of a tile with the zeros that a matmul's loads read beyond it.
Shape operand_padding(const KernelPlan&, int node);

}  // namespace zellige::plan
