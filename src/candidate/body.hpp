// Builds the block graph of a group of operators: what one thread block computes for its tile.
//
// Grid dimensions split axes that no step reduces over. The loop runs along one axis that is reduced over. A step on a
// tile that is loaded per iteration runs inside the loop. Sums, maxima and matmuls over the loop's axis become
// accumulators, and steps that read them run after the loop. If a step inside the loop needs a value that is known only
// after the loop, one of the laws of deferred.hpp moves the use of that value to the end of the loop, or the group is
// rejected. docs/explanation/fusion.md has an example of each law.
//
// The loop may be split over blocks (split-K, split-KV). Each block then stores partial results, and a second kernel
// combines them. That kernel also runs the steps along the loop's axis that no reduction needs, such as a softmax's
// quotient, and loads the operands of these steps again. If each block runs a single iteration, a reduction that needs
// another reduction's result, such as a mean of x - amax(x), is computed by a later kernel, too.
#pragma once
#include <map>

#include "candidate/deferred.hpp"
#include "candidate/kernel.hpp"
#include "candidate/tiles.hpp"

namespace zellige::candidate {

/// A result of one block's share of a split loop: a float32 sum, a maximum, or what another reduction joins. A second
/// kernel combines these.
struct PartialResult {
  int value = -1;  // the value of the steps that is summed; for a maximum, the maximum's operand
  int dim = -1;    // for a maximum: the dimension it is taken along; -1: this is a sum
  // For a sum relative to a running maximum (as of exponentials): index of that maximum's partial. The sum
  // itself is this one times exp(coefficient * (overall maximum - this block's maximum)). -1: none.
  int below = -1;
  double coefficient = 0;
  std::vector<DeferredFactor> factors{};  // values by which the sum is still to be multiplied or divided
  graph::Shape shape{};                   // of the value before the split, with reduced dimensions of extent 1
  graph::OpKind join =
      graph::OpKind::reduction;  // unless it is a maximum: the reduction that combines the blocks' results
  // For a maximum: it is that of one tile, without a finite initial value, and so may be minus infinity. Sums
  // are relative to max(it, the lowest finite float32).
  bool exact = false;
  // For a sum of squares of differences from the mean of the block's part: index of the partial result that is the
  // part's sum, the part's number of elements, and the value that is subtracted in place of that mean. -1: not one.
  int about = -1;
  std::int64_t count = 0;
  int centre = -1;
  graph::DType dtype = graph::DType::f32;  // in which blocks store it
  auto operator<=>(const PartialResult&) const = default;
};

/// The block graph of a group, and the tensors that it reads and writes.
struct GroupBody {
  graph::BlockGraph block;
  std::vector<SeenTensor> loads;        // by operand of the block graph
  std::vector<SeenTensor> stores;       // by result; empty if the loop is split
  std::vector<PartialResult> partials;  // by result, if the loop is split
  std::map<int, int> maxima;            // if the loop is split: by value that is a maximum, its index in `partials`
  std::map<int, int> sums;              // if the loop is split: by value that is a sum, its index in `partials`
  bool reduces_again = false;           // the loop is split, and other reductions over its axis need these results
};

/// Returns the block graph of the steps under this tiling. If tiles.split is set, the block graph computes
/// partial results. Throws Error with the step's name if a step needs a value that is not yet available.
/// Requires that elements beyond the end of partial tiles do not change the results (mask_partial_tiles.cpp).
GroupBody body_of(const graph::KernelGraph&, const GroupSteps&, const Axes&, const GroupTiling&);

/// Returns the steps of the kernel that combines partial results (merge.cpp). It has the same outputs as the given steps.
/// `first` is what the first kernel computes: the body of the given steps with the loop split over `parts`
/// blocks. tensors[i] is the tensor of the graph that stores partial result number i of `first`.
GroupSteps merged(const GroupSteps&, const GroupBody& first, std::int64_t parts, const std::vector<int>& tensors);

}  // namespace zellige::candidate
