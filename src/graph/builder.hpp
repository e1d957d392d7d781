// Builds kernel graphs from C++ expressions that read like formulas. At the kernel level:
//
//   Builder b("lora");
//   Tensor X = b.input("X", {16, 256}), W = b.input("W", {256, 4096});
//   Tensor A = b.input("A", {256, 16}), B = b.input("B", {16, 4096});
//   b.output(matmul(X, W) + matmul(matmul(X, A), B), "Y");
//   KernelGraph g = b.build();                                  // inferred and validated
//
// Sizes that are known at launch are extents like integers, and have +, - and *:
//
//   const SymbolicExtent T = b.size({.name = "T", .max = 8192});
//   Tensor X = b.input("X", {T, 4, 64});
//   Tensor Y = reshape(X, {4 * T, 64});
//
// With a block graph, which defines what one thread block does with its tiles:
//
//   // Blocks divide dimension 1 of W (axis x of the grid); the loop divides dimension 1 of X and 0 of W.
//   Tensor Y = b.custom({.grid = {64}, .block = {128}, .loop = 4}, [&](BlockBuilder& t) {
//     Tile x = t.load(X, {.loop = 1}), w = t.load(W, {.x = 1, .loop = 0});
//     t.store(accum(matmul(x, w)), {.x = 1});   // the blocks' results are concatenated along dimension 1
//   }).at(0);                                   // the first result of the custom operator
//
// The operators are functions (expression.hpp). A mistake throws Error at the call that makes it. Strides, memory and
// dtypes are checked by build().
#pragma once
#include <functional>

#include "graph/expression.hpp"

namespace zellige::graph {

/// The tensor dimension that each grid axis and the loop divide. A load splits the dimension, a store
/// concatenates the blocks' tiles along it. -1: none.
struct Split {
  int x = -1, y = -1, z = -1, loop = -1;
};

/// The part of a store that is kept: elements [start, end) along `dim` of the tensor that the blocks' tiles
/// form together. dim = -1: all of it.
struct StoreSlice {
  int dim = -1;
  std::int64_t start = 0, end = 0;
};

/// Launch configuration of a custom operator: grid and block extents, and the number of loop iterations.
struct CustomLaunch {
  Dim3 grid, block{128};
  std::int64_t loop = 1;
};

class Builder;
struct Where;

/// Builds the block graph of one custom operator; passed to the function given to Builder::custom().
class BlockBuilder : public Scope {
 public:
  /// Returns the tile of a kernel-level tensor that one block loads in one iteration. `Split` says which
  /// dimension each grid axis and the loop divide. Throws Error if an extent is not divisible.
  TileHandle load(TensorHandle, Split = {}, std::string name = {});
  /// Stores a tile as the next result of the custom operator. The result is the concatenation of all blocks'
  /// tiles along the dimensions in `Split`, or the part of it that `Slice` selects. Throws Error if
  /// Split::loop is set, or if a grid axis with more than one block has no dimension.
  void store(TileHandle, Split = {}, std::string name = {}, Strides = {}, StoreSlice = {});
  /// Masks a tile by element index: elements outside the bounds `Kept` (such as a causal mask) become
  /// `value`. `Split`, as given to load(), locates the tile in the whole tensor. `dims` are the two
  /// dimensions whose indices the bounds compare (default: the last two).
  TileHandle mask(TileHandle, const Kept&, Split = {}, double value = Attributes{}.value,
                  std::vector<std::int64_t> dims = {});
  /// Masks a tile by element index, like the other mask(), and by lengths: an element also becomes `value` if
  /// its index along the mask's second dimension is not below its length. `lengths`, an int32 tile that
  /// broadcasts to the masked tile, has the length for each element.
  TileHandle mask(TileHandle, TileHandle lengths, const Kept& = {}, Split = {}, double value = Attributes{}.value,
                  std::vector<std::int64_t> dims = {});

  std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) override;
  void follow(IntegerPlace::Of of, const SymbolicShape&) override;
  const Shape& shape(int tensor) const override { return block_.tensors[tensor].shape; }
  DType dtype(int tensor) const override { return block_.tensors[tensor].dtype; }

 private:
  friend class Builder;
  BlockBuilder(Builder& kernel, const CustomLaunch&);
  Where here(std::string_view kind) const;  // the place of the next operator, for messages
  TileHandle placed_mask(const std::vector<TileHandle>& operands, const Attributes&, Split);
  Builder& kernel_;
  BlockGraph block_;
  std::vector<int> inputs_;           // indices of the kernel-level tensors that are loaded
  std::vector<KernelTensor> stored_;  // results, as passed to store()
};

/// Builds a kernel graph; build() returns it.
class Builder : public Scope {
 public:
  /// Builds the graph of each of `ranks` processes (collective.hpp).
  explicit Builder(std::string name, int ranks = 1);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// Declares a size that is known at launch. Throws Error if its values are not valid, or its name is taken.
  SymbolicExtent size(NamedSize);
  TensorHandle input(std::string name, const SymbolicShape&, DType = DType::f16,
                     const SymbolicShape& strides = {});  // no strides: row-major
  /// Adds an input that no earlier work on the stream writes, such as a weight. Kernels may read it before
  /// the preceding kernel has ended (programmatic dependent launch).
  TensorHandle constant(std::string name, const SymbolicShape&, DType = DType::f16, const SymbolicShape& strides = {});
  TensorHandle output(TensorHandle, std::string name = {},
                      const SymbolicShape& strides = {});  // no strides: the planner's choice
  /// Makes `y` share the memory of the input `x`, and returns it. `y` must be the result of a scatter or
  /// slice_scatter into `x`, or into a tensor that already shares x's memory; build() checks this.
  TensorHandle in_place(TensorHandle y, TensorHandle x);
  /// Returns the number of the rank that computes it: int32, of shape (1).
  TensorHandle rank();
  /// Appends a custom operator, whose block graph `body` builds. Returns one tensor per call of BlockBuilder::store().
  std::vector<TensorHandle> custom(const CustomLaunch&, const std::function<void(BlockBuilder&)>& body);
  /// Returns the graph with all shapes inferred. Throws Error if the graph is not valid.
  KernelGraph build() const;

  std::vector<int> append(OpKind, const Attributes&, const std::vector<int>& operands) override;
  void follow(IntegerPlace::Of of, const SymbolicShape&) override;
  const Shape& shape(int tensor) const override { return graph_.tensors[tensor].shape; }
  DType dtype(int tensor) const override { return graph_.tensors[tensor].dtype; }

 private:
  friend class BlockBuilder;
  /// Keeps the expressions of integers from `place` on.
  void keep(IntegerPlace place, const SymbolicShape&);
  KernelGraph graph_;
  SymbolicSizes sizes_;
  std::vector<SymbolicShape> extents_;  // by tensor, if there are sizes
};

}  // namespace zellige::graph
