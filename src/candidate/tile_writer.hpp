// Writes the tiles of a group's values into its block graph (body.hpp): loads and stores, and what the tiling says of
// a value. Class Emission (body.cpp) adds the operators.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "candidate/body.hpp"
#include "retile/block_writer.hpp"

namespace zellige::candidate {

class TileWriter : protected retile::BlockWriter {
 public:
  /// `split`: whether the loop axis is split over blocks.
  TileWriter(const graph::KernelGraph&, const GroupSteps&, const Axes&, const GroupTiling&, bool split);

 protected:
  const graph::Shape& shape(int v) const { return steps_.values[v].shape; }
  /// Returns the name of the value's tensor for messages, or a description if the value is no tensor of the graph.
  std::string called(int v) const;
  /// Throws Error, because step `s` would read inside the loop a value that is known only after the loop.
  [[noreturn]] void refuse(const GroupStep& s) const;
  /// Names tile `t` after the graph's tensor that value `v` represents. Does nothing if `v` is no tensor of the graph.
  void name_after(int v, int t);
  /// Returns tile `t` cast to the dtype of value `v`. A matmul reads the value in this dtype, and it is
  /// stored in this dtype.
  int rounded(int t, int v) { return cast(t, steps_.values[v].dtype); }
  /// Returns, for each grid dimension, which dimension of value `v` it splits, or -1 if none.
  std::array<int, 3> map_of(int v) const;
  /// Returns the padded shape of value `v`, whose own shape is `s`: each dimension with a partial tile is extended to a
  /// whole number of tiles.
  graph::Shape covered(int v, graph::Shape s) const;
  /// Returns which dimension of the value lies along the loop axis, or -1 if none does.
  int loop_dim(int v) const { return tiles_.loop_axis >= 0 ? axes_.dim(v, tiles_.loop_axis) : -1; }
  /// Returns whether the step reduces over the loop axis.
  bool is_along(const GroupStep& s) const { return tiles_.loop_axis >= 0 && axes_.reduces(s, tiles_.loop_axis); }
  /// Returns whether each block of a split loop has a loop of its own, along another axis (inner_axis) than the one
  /// that is split over blocks.
  bool has_inner_loop() const { return tiles_.inner_axis >= 0; }
  /// Returns whether each block of a split loop runs a single iteration and the group has no matmul. A block's maxima
  /// are then final for its share of the loop axis, so that no running maximum replaces them.
  bool exact_maxima() const { return split_ && tiles_.loop == 1 && !has_inner_loop() && !multiplies_; }
  /// Returns whether each block of a split loop has a single tile along the loop axis.
  bool one_tile() const { return has_inner_loop() || exact_maxima(); }
  /// Returns whether the value has the axis of the block's own loop (inner_axis). False if there is no such loop.
  bool is_inner(int v) const { return has_inner_loop() && axes_.has(v, tiles_.inner_axis); }
  /// Returns which dimension of the value is divided over the iterations of the block's loop, or -1 if none
  /// is or if the loop has one iteration.
  int cut_by_loop(int v) const;

  /// Emits the load of value `v` if it is produced outside the group. If an equal load exists, its tile is used.
  void load(int v);
  /// Emits the stores of value `v`, an output of the group, from tile `t`. Throws Error if the value changes with the loop
  /// iteration, or if blocks that differ in a grid dimension would write the same elements.
  void store(int v, int t);
  /// Emits the store of the partial result with index `at`, from tile `t`. The stored tensor has a first dimension that
  /// numbers the blocks of the split loop. Throws Error if two blocks would write the same elements.
  void store_partial(int at, int t);

  const graph::KernelGraph& g_;
  const GroupSteps& steps_;
  const Axes& axes_;
  const GroupTiling& tiles_;
  const bool split_;
  bool multiplies_ = false;  // the group has a matmul
  GroupBody body_;
  // For each value its tile, or what becomes the value after the loop.
  std::vector<Deferred> deferred_;

 private:
  /// Returns the parts of value `v` that are stored as separate tensors. They are the slices that readers use, if each
  /// slice consists of whole block tiles. Otherwise the only part is the whole value.
  std::vector<OutputSlice> slices(int v) const;
};

}  // namespace zellige::candidate
