// Context: a thread-value layout, which says which thread evaluates which elements of a tile. It is a composition of
// two layouts of the layout library, with numbered work items in between:
//
//   share  (thread, value, pass) -> item     which items a thread has
//   tile   item -> coordinate                where an item is in the tile
//
// Items are numbered along one or more axes. Strides are multiples of basis elements: 8@0 moves eight items along
// axis 0 of the items, 1@1 one element along the tile's dimension 1. In this example 128 threads divide a tile of
// (16, 256) into 512 chunks of 8 elements; thread t has the chunks t, t + 128, t + 256 and t + 384:
//
//   share  (128,(8,4),1):(8@0,(1@0,1024@0),_0)   tile  ((8,32,16)):((1@1,8@1,1@0))
//   EvaluatedLayout evaluated(context);         // evaluated_layout.hpp
//   evaluated.at(33, 9)                         // (5, 9): thread 33, value 9 is item 8 * 33 + 1 + 1024
//
// There are two layouts because their composition need not be a layout, for example with 100 threads and rows of 32
// chunks.
//
// - A thread's adjacent elements are along axis 0. In a reduction axis 0 is the reduced one, and the other axes
//   number the results.
// - An item number beyond the size of `tile` has no element. Other items, too, may have coordinates outside of the
//   tile's shape (Context::domain); the caller must guard or clamp these.
// - A thread executes its passes one after another, in the same registers.
#pragma once
#include <zellige/atom/instruction.hpp>
#include <zellige/layout/algebra/value.hpp>

#include "tile/program.hpp"

namespace zellige::kernel {

using graph::coordinates;
using graph::Shape;
using graph::Strides;

/// One mode of a layout whose strides are multiples of basis elements: stride@basis.
struct Mode {
  std::int64_t extent, stride;
  int basis;  // the axis of the items, or dimension of the tile, along which it moves
  bool operator==(const Mode&) const = default;
};

/// A thread-value layout: says which elements of a tile each thread has. `domain` is the tile's shape.
struct Context {
  Shape domain;
  Value share, tile;  // (thread, value, pass) -> item, and item -> coordinate
  // For accumulators or A fragments: an instruction with this layout of values; nullptr otherwise.
  const Instruction* row = nullptr;
  const Instruction* of = nullptr;  // for rows of accumulators: the accumulators' instruction

  // Properties of the thread-value layout.
  int rank() const { return static_cast<int>(domain.size()); }
  int inner() const;            // the tile's dimension along which a thread's vectors run
  int vector() const;           // elements per vector; a vector's first coordinate is a multiple of it
  int threads() const;          // number of threads that have values: the first ones of the block
  std::int64_t values() const;  // number of values (elements) per thread and pass
  int repeats() const;          // number of passes, one after another in the same registers
  int axes() const { return tile.rank(); }
  /// Number of items along an axis, including those whose coordinates are outside the tile.
  std::int64_t items(int axis) const;
  /// Number of items that a thread has per pass along an axis. Along axis 0, counts vectors of vector() elements.
  std::int64_t steps(int axis) const;
  /// Number of threads that have a copy of each element; 1 if elements are not replicated.
  int holders() const;
  /// Returns whether each element is replicated in several threads, each of which has its complete value. False for
  /// accumulators: if several warps have the same element, each has a partial sum over its part of K.
  bool replicated() const { return !row && holders() > 1; }
  /// In a reduction: number of lanes of a warp that together have the summands of one result.
  int lanes() const;
  /// In a reduction: distance, in threads, between adjacent lanes that have summands of the same result. In a
  /// replicated layout: distance between adjacent lanes that have the same elements. 1 if there are no such lanes.
  int lane_step() const;
  /// In a reduction: returns the first thread of the warp that has summands of the same result as `thread`.
  int first_lane(int thread) const { return thread - thread / lane_step() % lanes() * lane_step(); }
  /// In a reduction: number of warps that together have the summands of one result.
  int parts() const;
  bool operator==(const Context&) const;
};

/// Returns the modes (extent and stride pairs) of a layout as a flat list, leftmost first.
std::vector<Mode> modes(values::View);
/// Returns the flat layout that has these modes; the inverse of modes().
Value layout(const std::vector<Mode>&);

/// Returns true if two layouts provably give each value of each thread in each pass the same element: their modes are
/// equal when adjacent modes that continue each other are merged. False is inconclusive.
bool have_equal_modes(const Context&, const Context&);

/// Returns a blocked layout of a tile of shape `domain`: divides the tile into chunks of `vector` adjacent elements
/// and deals them round-robin to the threads. `order` lists the tile's dimensions, fastest first; chunks are along
/// the first one. The last chunk of a row may extend beyond the row.
Context blocked_layout(const Shape& domain, const std::vector<int>& order, int vector, int threads);
/// The same with the order inner_first().
Context blocked_layout(const Shape& domain, int inner, int vector, int threads);
/// Returns the dimensions of a shape: `inner` first, then the others from the last to the first.
std::vector<int> inner_first(const Shape&, int inner);

/// A reduction of a tensor of shape `domain` to one of shape `sums`, and its distribution over threads. Each result
/// has `length` summands, which are separated by `to` elements along dimension `dim` of `domain`. (`domain` may have
/// one more dimension than `sums`.) A group of lanes * splits threads, lanes of `splits` warps, reads one result's
/// summands in vectors. `groups` such groups take the results round-robin.
struct Summation {
  Shape domain, sums;
  int dim = 0;
  std::int64_t to = 1, length = 1;
  int vector = 1, lanes = 1, splits = 1, groups = 1;
};
/// Returns the thread-value layout that says which thread has which summands of a reduction. Axis 0 of the layout's
/// items numbers the summands of one result, axis 1 the results.
Context summands(const Summation&);
/// Returns the given reduction distributed over `threads` threads: sets its fields `vector`, `lanes`, `splits` and
/// `groups`. Summands are read as vectors if `together` is true and they are contiguous along the last dimension.
/// Each lane gets at least one vector. If there are several warps per result, up to 8 warps share its summands.
Summation spread(Summation, bool together, std::int64_t threads);

constexpr int max_elements_per_step = 8;  // adjacent elements that a thread evaluates at a time

/// Returns whether the coordinate `at` has the rank of `shape` and is less than `shape` in every dimension.
bool inside(const Shape& at, const Shape& shape);

/// Returns the row-major index of the coordinate `at`, with the last dimension fastest; the inverse of coordinates().
std::int64_t linear(const Shape& at, const Shape& shape);

/// Returns the coordinate of the element of A (side 0) or B (side 1) that one multiply-add of a matmul reads. For the
/// multiply-add at coordinate (.., m, n, k), this is (.., m, k) in A or (.., k, n) in B.
Shape factor(const Shape& at, int side);

/// Returns a description of the layout for messages, such as
/// "blocked layout of (16, 256) by 8 along dimension 1".
std::string print(const Context&);

}  // namespace zellige::kernel
