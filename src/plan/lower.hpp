// Lowering: every kernel-level operator becomes a block program, custom operators from their block graph and the
// others from a costed tile table, so that one path plans and emits them all.
// Before: a validated graph. After: only NodeKind's nodes; matmul operands in their storage type.
#pragma once
#include <optional>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Plain products have the tiles that are stated, by operator, or those that are expected to take least.
Program lower(const graph::KernelGraph&, const target::Target&, const retile::Tiling& stated = {});

/// A custom operator's block graph (lower_block.cpp) and one pre-defined operator (lower_kernel.cpp).
/// Either may add views to the program's tensors. A product has the tile that is given, or says which it has.
BlockProgram lower_block(Program&, const graph::KernelOp&, const std::string& name, const target::Target&);
std::vector<BlockProgram> lower_kernel(Program&, const graph::KernelOp&, const std::string& name,
                                       const target::Target&, std::optional<retile::ProductTile>& product);

/// The nodes of one operator that is an elementwise function, a reduction, or made of such (graph/compose.hpp): appended for
/// operands that are there, all in one section. The result keeps the reduced dimension.
/// `shape`, where it is given, is what a map's result is broadcast to. A mask's splits are the caller's to fill in.
int lower_operator(BlockProgram&, OpKind, const graph::Attributes&, const std::vector<int>& operands, Section,
                   const Shape& shape = {});
/// An operand of a product as instructions take it: e4m3 and e5m2 as f16, which holds them exactly.
int lower_operand(BlockProgram&, int value, DType);
/// A kernel-level view: an entry among the program's views, or copying kernels where it can be none.
std::vector<BlockProgram> lower_view(Program&, const graph::KernelOp&, const std::string& name,
                                     const target::Target&);
/// One kernel that copies a tensor into another of the same shape.
BlockProgram lower_copy(Program&, int from, int to, const std::string& name, const target::Target&);

}  // namespace zellige::plan
