// Lowers a validated graph to block programs (program.hpp): what one thread block of each kernel computes. The program
// of a custom operator comes from its block graph. Any other operator (matmul, reduction, elementwise ...) gets a
// program with tiles that the planner chooses. From then on both are planned and emitted in the same way.
#pragma once
#include <optional>

#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns the program of a graph: its tensors and block programs in launch order. `declared` gives tiles of standalone
/// matmuls, by operator; other matmuls get the tiles with the least expected time. Throws Error if it names an operator
/// that is no standalone matmul.
Program lower(const graph::KernelGraph&, const target::Target&, const retile::Tiling& declared = {});

/// Returns the block program, called `name`, of a custom operator's block graph. May add views to the program's
/// tensors. Throws Error if the block graph has an operator that cannot be lowered.
BlockProgram lower_block(Program&, const graph::KernelOp&, const std::string& name, const target::Target&);
/// Returns the block programs, called `name`, `name`_1 and so on, of an operator that is not custom. May add tensors
/// and views to the program. `product` is the tile to use for a matmul; if it is empty, the function chooses one. Sets
/// `product` to the tile used, or clears it if the operator is no matmul.
std::vector<BlockProgram> lower_kernel(Program&, const graph::KernelOp&, const std::string& name,
                                       const target::Target&, std::optional<retile::ProductTile>& product);

/// Appends the nodes of one operator to a block program, in the given section, and returns the node of its result. The
/// operator must be elementwise, a reduction (whose result keeps the reduced dimension with extent 1), or composed of
/// such operators (graph/compose.hpp). `operands` are nodes. If `shape` is given, the result is broadcast to it. The
/// caller must fill in the splits of a mask. Throws Error for other operators.
int lower_operator(BlockProgram&, OpKind, const graph::Attributes&, const std::vector<int>& operands, Section,
                   const Shape& shape = {});
/// Prepares node `value` as a matmul operand of type `DType`: returns `value` itself if it is a load of that type,
/// otherwise a new node that rounds it. e4m3 and e5m2 become f16, which represents them exactly.
int lower_operand(BlockProgram&, int value, DType);
/// Lowers a view (permute, reshape, slice, expand). Adds its result to the program's views and returns no kernels if
/// strides express the view and its result needs no memory of its own. Otherwise returns one or two kernels that copy.
std::vector<BlockProgram> lower_view(Program&, const graph::KernelOp&, const std::string& name,
                                     const target::Target&);
/// Returns a block program that copies tensor `from` into tensor `to`, which has the same shape.
BlockProgram lower_copy(Program&, int from, int to, const std::string& name, const target::Target&);

}  // namespace zellige::plan
