// Chooses how tiles are copied between global and shared memory: the instruction (cp.async, or a load and a store),
// the access width, and which thread copies which elements.
#pragma once
#include "selection/select.hpp"

namespace zellige::selection {

/// Number of loads per thread in flight together when tiles are copied through registers.
constexpr int loads_at_a_time = 8;

/// Returns the widest cp.async that can copy the tile of a load or store such that all accesses, which are along the
/// tensor's contiguous dimension, are aligned in the tensor. If no cp.async of the target can, returns the widest
/// ordinary access that is aligned and divides the tile's rows.
kernel::CopyChoice widest_copy(const tile::TilePrograms&, const tile::Node&, const target::Target&);

/// Returns a copy that moves one element per access, for a tile and a tensor with different contiguous dimensions.
kernel::CopyChoice single_copy(graph::DType, const target::Target&);

/// Returns a copy by unaligned 16-byte loads through registers (load_anywhere), to replace a copy of one element per
/// access where rows are unaligned. Returns the given copy unchanged if it is wider or asynchronous, if rows are
/// shorter than 16 bytes or not contiguous, or if elements have more than 2 bytes.
kernel::CopyChoice anywhere(const kernel::CopyChoice&, const tile::TilePrograms&, const tile::Node&,
                            const target::Target&);

/// Returns the blocked layout in which threads copy a load's tile of shape `padded`. Adjacent threads make adjacent
/// accesses: along `inner` first, then along the other dimensions in the order of the tensor's strides, smallest first.
kernel::Context copy_context(const graph::KernelTensor&, const graph::Shape& padded, int inner,
                             const kernel::CopyChoice&, int threads);

/// Returns whether the store node `store` writes accumulators from registers directly to global memory, not through
/// shared memory. This is done for matmuls of 32-bit operands, and for float32 results of two chained wgmma matmuls, if the
/// accumulators are contiguous along `gmem_inner`, the tensor's contiguous dimension. The stores then fill complete
/// 32-byte sectors.
bool leaves_at_once(const Selection&, const tile::Node& store, const kernel::Context& accumulators, int gmem_inner);

/// Returns the shape in shared memory of the tile of node `node`: the tile's extents, rounded up to what the
/// instructions of the matmuls that read the tile access. The padding is filled with zeros.
graph::Shape operand_padding(const Selection&, int node);

}  // namespace zellige::selection
