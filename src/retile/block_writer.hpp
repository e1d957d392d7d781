// Appends operators to a block graph (the body of a custom operator) and inserts casts where dtypes differ.
//
//   BlockWriter w(block);
//   const int bias = w.tile(DType::f16, "bias_tile");        // the caller adds the input operator that loads it
//   const int sum = w.emit(OpKind::add, {acc, bias});        // acc is f32: bias is cast, the sum is f32
//
// Between the operators of a block every value is an unrounded float32, whatever its dtype; only a cast to a
// narrower dtype rounds. So if one operand is f32, the other floating-point operands are cast to f32, and the
// result is f32. Operands of a matmul are not cast here: their dtype decides how the matmul rounds them, so the
// caller inserts these casts.
#pragma once
#include <set>

#include "graph/graph.hpp"

namespace zellige::retile {

class BlockWriter {
 public:
  explicit BlockWriter(graph::BlockGraph& block) : block_(block) {}
  BlockWriter(const BlockWriter&) = delete;

  graph::DType dtype(int tile) const { return block_.tensors[tile].dtype; }
  /// Adds a tile without an operator and returns its index. It is unnamed if another tile has the name already.
  int tile(graph::DType, const std::string& name = {});
  /// Names an unnamed tile. Does nothing if the tile has a name, or if this writer has given the name to another tile.
  void name(int tile, const std::string&);

  /// Appends an operator with one result and returns the index of the result tile. If one operand is f32,
  /// casts the other floating-point operands to f32 first, except those of a matmul or cast.
  int emit(graph::OpKind, std::vector<int> in, const graph::Attributes& = {});
  /// Returns the result tile of an operator with the same kind, operands and attributes if the block graph
  /// has one; otherwise appends the operator with emit().
  int emit_once(graph::OpKind, std::vector<int> in, const graph::Attributes& = {});
  /// Returns the index of a tile with the values of `tile` in this dtype: `tile` itself, or the result of a cast.
  int cast(int tile, graph::DType);
  /// Returns the operands, with the floating-point ones cast to f32 if one operand is f32. Returns integers,
  /// and the operands of a matmul or cast, unchanged.
  std::vector<int> promoted(graph::OpKind, std::vector<int> in);

 private:
  graph::BlockGraph& block_;
  std::set<std::string> names_{""};
};

/// Inserts casts into the block graph of the custom operator number `op`, some of whose operands or results have become f32
/// because they hold partial results (retile.hpp), so that it rounds the same values to the same dtypes as before. Requires
/// that the graph's tensors have their new dtypes already, and the tiles of the block graph their old ones.
///
/// A block rounds only in casts, at the operands of a matmul, and at stores. So the operands of a matmul are cast to the
/// dtypes that they had before, and a stored value to the dtype of its tensor.
void widen(graph::KernelGraph&, int op);

}  // namespace zellige::retile
