// Writes a block graph operator by operator and inserts casts where dtypes differ.
//
//   BlockWriter w(block);
//   const int bias = w.tile(DType::f16, "bias_tile");        // of an input, whose operator the caller adds
//   const int sum = w.emit(OpKind::add, {acc, bias});        // acc is f32: bias is cast, the sum is f32
//
// Between the operators of a block every value is an unrounded float32, whatever its dtype. So if one operand
// is f32, all operands are, and so is the result; only a cast to a narrower dtype rounds. The operands of a
// matmul are rounded: the caller casts them.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::graph {

class BlockWriter {
 public:
  explicit BlockWriter(BlockGraph& block) : block_(block) {}
  BlockWriter(const BlockWriter&) = delete;

  DType dtype(int tile) const { return block_.tensors[tile].dtype; }
  /// Adds a tile; unnamed if the name is taken.
  int tile(DType, const std::string& name = {});
  /// Names a tile that has no name yet; does nothing if the name is taken.
  void name(int tile, const std::string&);

  /// Appends an operator and returns its first result.
  int emit(OpKind, std::vector<int> in, const Attributes& = {});
  /// Returns the result of an equal existing operator, else appends one.
  int emit_once(OpKind, std::vector<int> in, const Attributes& = {});
  int cast(int tile, DType);
  /// Casts all operands to f32 if one is f32. Integers and the operands of a matmul are not cast.
  std::vector<int> promoted(OpKind, std::vector<int> in);

 private:
  BlockGraph& block_;
  std::set<std::string> names_{""};
};

}  // namespace zellige::graph
