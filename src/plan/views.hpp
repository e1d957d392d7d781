// Tensors that are the memory of others, seen in another shape: nothing is copied, kernels just index it otherwise.
//
//   const int row = seen_as(program, weight, {1, 4096}, target);   // a vector as a matrix of one row
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// `tensor` in a shape that differs by extents of 1 alone. Open strides of what is so seen become row-major.
int seen_as(Program&, int tensor, const Shape&, const target::Target&);

/// `tensor` with dimension dims[d] at d. Open strides become row-major.
int permuted_view(Program&, int tensor, const std::vector<int>& dims, const target::Target&);

/// Row-major strides for memory whose strides are open, since views have to know them: padded for aligned rows, or `dense`.
void settle_strides(Program&, int tensor, bool dense, const target::Target&);

/// Makes entry `tensor` a view of what `from` is a view of, or is.
void make_view(Program&, int tensor, int from, const Shape&, const Strides&, const Shape& starts);

/// A view of the tensor's memory, or one that is there already and says the same.
int view_of(Program&, int tensor, const Shape&, const Strides&, const Shape& starts);

/// A new tensor whose name begins with `name`; its index.
int add_tensor(Program&, DType, const Shape&, const Strides&, const std::string& name);

/// `shape` with extents of 1 in front, up to a rank.
Shape padded_rank(Shape shape, std::size_t rank);

}  // namespace zellige::plan
