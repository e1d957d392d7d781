// Writes the block graph of a custom operator that a rule makes. Used only by rules.
//
//   class Doubled : CustomWriter {                              // y = x + x, in four blocks
//     KernelOp write(int x, int y) {
//       block_.grid = {4, 1, 1}, block_.block = {32, 1, 1};
//       const int tile = load(x, {0, -1, -1}, -1);
//       return store(add(OpKind::add, {tile, tile}), {0, -1, -1}, y);
//     }
//   };
#pragma once
#include <array>
#include <vector>

#include "rewrite/rewrite.hpp"

namespace zellige::rewrite {

class CustomWriter {
 protected:
  explicit CustomWriter(Rewrite& out) : out_(out) {}

  graph::DType dtype(int tile) const { return block_.tensors[static_cast<std::size_t>(tile)].dtype; }
  /// Adds an operator. Returns the tile of its result, which has the dtype that follows from the first operand.
  int add(graph::OpKind, std::vector<int> in, const graph::Attributes& = {});
  /// Loads a tile of a tensor, of which the tiles together cover `covered`; empty: all of it. The loop must be set.
  int load(int tensor, const std::array<int, 3>& map, int loop_dim, const graph::Shape& covered = {});
  /// Stores a tile of the tensor `result`, of which the tiles cover more than `extents` if that is not empty. Returns the operator.
  graph::KernelOp store(int tile, const std::array<int, 3>& map, int result, const graph::Shape& extents = {});

  Rewrite& out_;
  graph::BlockGraph block_;

 private:
  int tensor(graph::DType);

  std::vector<int> inputs_;
};

}  // namespace zellige::rewrite
