// Tensors in another tensor's memory with another shape: no data is copied, kernels only index it
// differently.
//
//   const int row = seen_as(program, weight, {1, 4096}, target);   // a vector as a matrix of one row
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns a view of `tensor` with a shape that differs only by extents of 1. Open strides become row-major.
int seen_as(Program&, int tensor, const Shape&, const target::Target&);

/// Returns a view of `tensor` with dimension dims[d] at d. Open strides become row-major.
int permuted_view(Program&, int tensor, const std::vector<int>& dims, const target::Target&);

/// Sets row-major strides for a tensor whose strides are open, since views need them: padded for aligned
/// rows, or `dense`.
void settle_strides(Program&, int tensor, bool dense, const target::Target&);

/// Makes entry `tensor` a view of `from`, or of that view's base.
void make_view(Program&, int tensor, int from, const Shape&, const Strides&, const Shape& starts);

/// Returns a new view of the tensor's memory, or an existing one that is equal.
int view_of(Program&, int tensor, const Shape&, const Strides&, const Shape& starts);

/// Adds a tensor with a unique name that begins with `name`; returns its index.
int add_tensor(Program&, DType, const Shape&, const Strides&, const std::string& name);

/// Prepends extents of 1 up to a rank.
Shape padded_rank(Shape shape, std::size_t rank);

}  // namespace zellige::plan
