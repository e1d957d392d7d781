// Creates views: tensors of a program that are in another tensor's memory with another shape. No data is
// copied; kernels only index the memory differently.
//
//   const int row = seen_as(program, weight, {1, 4096}, target);   // a vector as a matrix of one row
#pragma once
#include <functional>

#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::lower {

/// Returns a view of `tensor` with the given shape, which may differ from the tensor's shape only by extents
/// of 1. A tensor without strides gets row-major strides first (settle_strides).
int seen_as(tile::TilePrograms&, int tensor, const graph::Shape&, const target::Target&);

/// Returns a view of `tensor` whose dimension d is dims[d] of the tensor, which gets strides first if it has none.
int permuted_view(tile::TilePrograms&, int tensor, const std::vector<int>& dims, const target::Target&);

/// Returns the list whose element d is element dims[d] of `list`.
template <class T>
std::vector<T> permuted(const std::vector<T>& list, const std::vector<int>& dims) {
  std::vector<T> result;
  for (int d : dims) result.push_back(list[d]);
  return result;
}

/// Sets row-major strides if the tensor has none. Rows are padded to the target's access size, unless `dense`.
void settle_strides(tile::TilePrograms&, int tensor, bool dense, const target::Target&);

/// Makes the existing tensor `tensor` a view of the memory of tensor `from`, with the given shape and strides.
/// The view begins at coordinate `starts`. If `from` is a view itself, `tensor` becomes a view of the tensor
/// that owns the memory. `value` is the tensor that has the view's value; -1: that of `from`.
void make_view(tile::TilePrograms&, int tensor, int from, const graph::Shape&, const graph::Strides&,
               const graph::Shape& starts, int value = -1);

/// Adds a tensor called `name` (see add_tensor) that is such a view of tensor `from`, and returns its index.
int new_view(tile::TilePrograms&, int from, const graph::Shape&, const graph::Strides&, const graph::Shape& starts,
             const std::string& name);

/// Returns the view of the tensor's memory with the given shape, strides and start; adds it if there is none.
int view_of(tile::TilePrograms&, int tensor, const graph::Shape&, const graph::Strides&, const graph::Shape& starts);

/// Makes the existing tensor `tensor`, of the windows' shape, a view of the memory of tensor `from` that shows these windows.
void make_windows(tile::TilePrograms&, int tensor, int from, tile::Windows);

/// Makes the result of an unfold, or of a view of windows, a view. Returns the programs that this takes: none if readers read the
/// windows where they are. copy(a, b) returns the program that copies tensor a to b.
std::vector<tile::TileProgram> view_windows(tile::TilePrograms&, const graph::KernelOp&, const target::Target&,
                                            const std::function<tile::TileProgram(int, int)>& copy);

/// Adds a tensor and returns its index. Its name is `name`, with underscores appended until it is unique.
int add_tensor(tile::TilePrograms&, graph::DType, const graph::Shape&, const graph::Strides&, const std::string& name);

/// Returns the shape with extents of 1 prepended, so that it has at least `rank` dimensions.
graph::Shape padded_rank(graph::Shape shape, std::size_t rank);

}  // namespace zellige::lower
