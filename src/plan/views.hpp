// Creates views: tensors of a program that are in another tensor's memory with another shape. No data is
// copied; kernels only index the memory differently.
//
//   const int row = seen_as(program, weight, {1, 4096}, target);   // a vector as a matrix of one row
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns a view of `tensor` with a shape that differs from its own only by extents of 1. A tensor without
/// strides gets row-major ones first (settle_strides).
int seen_as(Program&, int tensor, const Shape&, const target::Target&);

/// Returns a view of `tensor` whose dimension d is the tensor's dimension dims[d]. A tensor without strides
/// gets row-major ones first.
int permuted_view(Program&, int tensor, const std::vector<int>& dims, const target::Target&);

/// Sets row-major strides for a tensor that has none yet, since its views need them. Rows are padded to the
/// target's access size, unless `dense`.
void settle_strides(Program&, int tensor, bool dense, const target::Target&);

/// Makes the existing tensor `tensor` a view of `from` with this shape and these strides, beginning at
/// coordinate `starts`. If `from` is a view itself, the new one refers to its base.
void make_view(Program&, int tensor, int from, const Shape&, const Strides&, const Shape& starts);

/// Returns the index of a view of the tensor's memory with this shape, strides and beginning: an existing
/// one, or a new tensor.
int view_of(Program&, int tensor, const Shape&, const Strides&, const Shape& starts);

/// Adds a tensor and returns its index. Its name is `name`, with underscores appended until it is unique.
int add_tensor(Program&, DType, const Shape&, const Strides&, const std::string& name);

/// Returns the shape with extents of 1 prepended up to this rank.
Shape padded_rank(Shape shape, std::size_t rank);

}  // namespace zellige::plan
