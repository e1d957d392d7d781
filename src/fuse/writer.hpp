// Writes a block graph, operator by operator, whose tiles' dtypes agree.
//
//   BlockWriter w(block);
//   const int bias = w.tile(DType::f16, "bias_tile");        // of an input, whose operator the caller adds
//   const int sum = w.emit(OpKind::add, {acc, bias});        // acc is f32: bias is cast, the sum is f32
//
// What lies between the operators of a block is float32 and not rounded. So where one operand is f32, all are, and so is the result; only a
// cast to a narrower dtype rounds. A product's operands are rounded by whoever emits it, and numbers of rows stay what they are.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::fuse {

class BlockWriter {
 public:
  explicit BlockWriter(graph::BlockGraph& block) : block_(block) {}

  graph::DType dtype(int tile) const { return block_.tensors[tile].dtype; }
  /// A new tile; nameless where the name is taken.
  int tile(graph::DType, const std::string& name = {});
  /// Names a tile that has no name yet, unless the name is taken.
  void name(int tile, const std::string&);

  /// The first result of a new operator.
  int emit(graph::OpKind, std::vector<int> in, const graph::Attributes& = {});
  /// The same where there is no such operator yet.
  int emit_once(graph::OpKind, std::vector<int> in, const graph::Attributes& = {});
  int cast(int tile, graph::DType);

 private:
  std::vector<int> alike(graph::OpKind, std::vector<int> in);

  graph::BlockGraph& block_;
  std::set<std::string> names_{""};
};

}  // namespace zellige::fuse
