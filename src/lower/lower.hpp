// Lowers a validated graph to tile programs (program.hpp): what one thread block of each kernel computes. The
// program of a custom operator comes from its block graph, that of a copy (concat, gather ...) has tiles of about 2048
// elements. Later passes plan and emit both in the same way.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "lower/align.hpp"
#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// Returns the program of a graph: its tensors, and its tile programs in launch order. Every operator that computes
/// something must be a custom operator (fuse/separate.hpp); the others are views and copies.
tile::TilePrograms lower(const graph::KernelGraph&, const target::Target&);

/// The program of a graph, and by operator which of its matmul operands are copied to aligned lines (align.hpp): of those
/// that have operands whose lines begin at no multiple of 16 bytes.
struct LoweredOperators {
  tile::TilePrograms program;
  std::map<int, OperandCopies> copies;
};
/// Returns what lower() returns, except that operators read copies of the operands in `copied`, and others where they are.
LoweredOperators lower_operators(const graph::KernelGraph&, const target::Target&,
                                 const std::map<int, std::uint32_t>& copied);

/// Returns the tile program of a custom operator, lowered from its block graph; `name` is its name. May add views to
/// the program's tensors. Throws Error if the block graph has an operator that cannot be lowered.
tile::TileProgram lower_block(tile::TilePrograms&, const graph::KernelOp&, const std::string& name,
                              const target::Target&);
/// Returns the tile programs of an operator that views (permute, reshape, slice, expand) or copies (concat, split, gather,
/// scatter, slice_scatter); their names are `name`, `name`_1 and so on. May add tensors and views to the program. A view has
/// none if strides express it and its result needs no memory of its own; the result is then one of the program's views.
/// Throws Fault for an operator that computes.
std::vector<tile::TileProgram> lower_copies(tile::TilePrograms&, const graph::KernelOp&, const std::string& name,
                                            const target::Target&);

/// Appends the nodes of one operator to a tile program, and returns the node of the operator's result. `operands` are nodes. If `shape` is not empty, the result is broadcast
/// to it. Requires that the operator is elementwise, a reduction (whose result keeps the reduced dimension with
/// extent 1), or composed of such operators (graph/compose.hpp); throws Error for other operators. The caller must
/// set the splits of a mask.
int lower_operator(tile::TileProgram&, graph::OpKind, const graph::Attributes&, const std::vector<int>& operands,
                   const graph::Shape& shape = {});
/// Returns the nodes that yield the values of nodes `a` and `b` as operands of a matmul, of types `of_a` and `of_b`: `a`
/// (or `b`) itself if it is a load of that type, otherwise a new node that rounds it. Operands of type e4m3 or e5m2 are
/// converted to f16, which represents them exactly, unless the target multiplies them and both lie along K: elements of 8
/// bits are not transposed.
std::vector<int> lower_operands(const tile::TilePrograms&, tile::TileProgram&, int a, int b, graph::DType of_a,
                                graph::DType of_b, const target::Target&);
/// Adds nodes that compute a permuted tile to the tile program, and the views of tensors that they load to `whole`.
/// Returns the node whose dimension d is dimension dims[d] of node `value`; `value` itself if the permutation only moves
/// dimensions of extent 1. The nodes that compute `value` may lose their readers.
int lower_permute(tile::TilePrograms& whole, tile::TileProgram&, int value, const std::vector<int>& dims,
                  const target::Target&);
/// Returns the tile size along a dimension of this extent. The maximum is `limit` or the extent, whichever is less.
/// Returns the largest divisor of the extent that is at most the maximum and more than half of it, if there is one.
/// Otherwise returns the size with which all tiles are equal but the last, which is shorter.
std::int64_t even_tile(std::int64_t extent, std::int64_t limit);

}  // namespace zellige::lower
