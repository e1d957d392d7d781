// Lowering: maps every kernel-level operator to a block program, custom operators from their block graph
// and the others from a table of tiles with costs, so that one path plans and emits them all.
// Before: a validated graph. After: only nodes of NodeKind; matmul operands in their storage type.
#pragma once
#include <optional>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// `declared` has the tiles of unfused matmuls, by operator; the others get the tiles with the least estimated
/// time.
Program lower(const graph::KernelGraph&, const target::Target&, const retile::Tiling& declared = {});

/// Lower a custom operator's block graph (lower_block.cpp) and a single pre-defined operator
/// (lower_kernel.cpp). Both may add views to the program's tensors. `product` is the tile of a matmul; if it
/// is not given, it returns the selected one.
BlockProgram lower_block(Program&, const graph::KernelOp&, const std::string& name, const target::Target&);
std::vector<BlockProgram> lower_kernel(Program&, const graph::KernelOp&, const std::string& name,
                                       const target::Target&, std::optional<retile::ProductTile>& product);

/// Appends the nodes of one operator that is elementwise, a reduction, or composed of these
/// (graph/compose.hpp), all in one section; the operands must exist. The result keeps the reduced dimension.
/// If `shape` is given, a map's result is broadcast to it. The caller fills in a mask's splits.
int lower_operator(BlockProgram&, OpKind, const graph::Attributes&, const std::vector<int>& operands, Section,
                   const Shape& shape = {});
/// Converts an operand of a matmul to a type that instructions take: e4m3 and e5m2 to f16, which represents
/// them exactly.
int lower_operand(BlockProgram&, int value, DType);
/// Lowers a kernel-level view: an entry among the program's views, or copying kernels if it cannot be one.
std::vector<BlockProgram> lower_view(Program&, const graph::KernelOp&, const std::string& name,
                                     const target::Target&);
/// Returns a kernel that copies a tensor into another of the same shape.
BlockProgram lower_copy(Program&, int from, int to, const std::string& name, const target::Target&);

}  // namespace zellige::plan
