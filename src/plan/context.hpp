// Context: a thread-value layout, which says which thread evaluates which elements of a tile. It is a composition
// of two layouts of the layout library, with numbered work items in between:
//
//   share  (thread, value, pass) -> item     which items a thread has
//   tile   item -> coordinate                where an item is in the tile
//
// Strides are multiples of basis elements: 8@0 moves eight items along axis 0 of the items, 1@1 one element
// along the tile's dimension 1. In this example 128 threads divide a tile of (16, 256) into chunks of 8 elements;
// each thread has one chunk of the first 128, one of the next 128, and so on:
//
//   share  (128,(8,4),1):(8@0,(1@0,1024@0),_0)   tile  ((8,32,16)):((1@1,8@1,1@0))
//   EvaluatedLayout evaluated(context);
//   evaluated.at(33, 9)                         // item 8 * 33 + 1 + 1024: (5, 9), the tenth value of thread 33
//
// There are two layouts because the composition need not be a layout: 100 threads over rows of 32 chunks are an
// example.
//
// - A thread's adjacent elements are along axis 0. In a reduction axis 0 is the reduced one, and the other axes
//   number the results.
// - An item beyond the tile's size has no element. A coordinate beyond the domain is returned all the same, out of
//   bounds: the caller guards or clamps it.
// - Passes are sequential and reuse the thread's registers.
#pragma once
#include <functional>
#include <limits>
#include <zellige/atom/instruction.hpp>
#include <zellige/layout/algebra/value.hpp>

#include "plan/program.hpp"

namespace zellige::plan {

/// One mode of a layout whose strides are multiples of basis elements: stride@basis.
struct Mode {
  std::int64_t extent, stride;
  int basis;  // the axis of the items, or dimension of the tile, along which it moves
  bool operator==(const Mode&) const = default;
};

/// A thread-value layout: the elements of a tile of shape `domain` that each thread has.
struct Context {
  Shape domain;
  Value share, tile;  // (thread, value, pass) -> item, and item -> coordinate
  // For accumulators or A fragments: an instruction with this layout of values; nullptr otherwise.
  const Instruction* row = nullptr;
  const Instruction* of = nullptr;  // for rows of accumulators: the accumulators' instruction

  // Properties of the layouts.
  int rank() const { return static_cast<int>(domain.size()); }
  int inner() const;            // the dimension along which a thread's adjacent values are adjacent
  int vector() const;           // number of adjacent values; their first coordinate is a multiple of it
  int threads() const;          // number of threads with values: the first ones of the block
  std::int64_t values() const;  // number of values per thread and pass
  int repeats() const;          // number of passes
  int axes() const { return tile.rank(); }
  /// Number of items along an axis, inside the domain or beyond it.
  std::int64_t items(int axis) const;
  /// Number of items per thread and pass along an axis; along axis 0 the number of vectors.
  std::int64_t steps(int axis) const;
  /// Number of threads that have the same items: one without replication.
  int holders() const;
  /// Returns whether several threads have each element and each has its complete value. False for accumulators:
  /// there the threads of warps along K have partial sums of the same element.
  bool replicated() const { return !row && holders() > 1; }
  /// Number of lanes of a warp among which the summands of one result of a reduction (items along axis 0) are divided.
  int lanes() const;
  /// Distance, in threads, between adjacent lanes that share one result of a reduction; in a replicated layout, between
  /// adjacent lanes with the same elements. 1 if there are no such lanes.
  int lane_step() const;
  /// Returns the thread number of the first lane that shares this thread's result of a reduction.
  int first_lane(int thread) const { return thread - thread / lane_step() % lanes() * lane_step(); }
  /// Number of warps among which the summands of one result of a reduction (items along axis 0) are divided.
  int parts() const;
  bool operator==(const Context&) const;
};

/// Returns the modes of a flat view of a layout, leftmost first.
std::vector<Mode> modes(values::View);
/// Returns the layout with these modes; the inverse of modes().
Value layout(const std::vector<Mode>&);

/// Returns a blocked layout: `domain` in chunks of `vector` elements, dealt round-robin to the threads. `order`
/// lists the dimensions, fastest first. The last chunk of a row may extend beyond the row.
Context blocked_layout(const Shape& domain, const std::vector<int>& order, int vector, int threads);
/// Returns the blocked layout whose fastest dimension is `inner`, with the other dimensions in row-major order: chunks
/// of `vector` elements along `inner`, dealt round-robin to the threads.
Context blocked_layout(const Shape& domain, int inner, int vector, int threads);

/// A reduction and its distribution over threads. Each result, an element of the shape `sums`, has `length`
/// summands, `to` elements apart along dimension `dim` of `domain`. (`domain` may have one more dimension than
/// `sums`.) A group of lanes * splits threads, lanes of `splits` warps, reads one result's summands in vectors.
/// `groups` such groups take the results round-robin.
struct Summation {
  Shape domain, sums;
  int dim = 0;
  std::int64_t to = 1, length = 1;
  int vector = 1, lanes = 1, splits = 1, groups = 1;
};
/// Returns the thread-value layout of a reduction's summands: axis 0 numbers the summands, axis 1 the results.
Context summands(const Summation&);
/// Returns the reduction with vector, lanes, splits and groups chosen for `threads` threads. Reads vectors if the
/// summands are contiguous (`together`), gives each lane at least one vector, and divides a result among up to 8
/// warps if there are more warps than results.
Summation spread(Summation, bool together, std::int64_t threads);

constexpr int max_elements_per_step = 8;  // adjacent elements that a thread evaluates at a time

/// A thread-value layout as tables, for fast lookup of the coordinate of (thread, value, pass).
class EvaluatedLayout {
 public:
  explicit EvaluatedLayout(const Context&);
  int threads() const { return static_cast<int>(of_thread_.size() / axes_); }
  int values() const { return values_; }
  int repeats() const { return repeats_; }
  /// Returns the value's coordinate in the tile, or an empty shape if the value has no element.
  Shape at(int thread, int value, int repeat = 0) const {
    Shape at;
    find(thread, value, repeat, at);
    return at;
  }
  /// Sets `at` to the value's coordinate in the tile, or clears it if the value has no element.
  void find(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, false); }
  /// Sets `at` to the coordinate of the result to which the value is added (0 along the reduced axis), or clears
  /// it if the value has no element.
  void find_sum(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, true); }
  /// Sets `at` to the coordinate of the thread's result in pass 0, even if the value is beyond the last summand.
  /// Clears it if there is no such result.
  void find_line(int thread, int value, Shape& at) const;
  /// Returns whether the value is the first that the thread adds to its result.
  bool starts_sum(int value) const { return of_value_[static_cast<std::size_t>(value) * axes_] == 0; }

 private:
  /// Sets `at` as find() does, or with `sum` as find_sum() does.
  void find(int thread, int value, int repeat, Shape& at, bool sum) const;
  /// Adds to `at` the coordinate of item number `item` of an axis.
  void add_coordinates(std::size_t axis, std::int64_t item, Shape& at) const;

  /// A mode of the tile, with the logarithm of its extent: a shift is much faster than a division.
  struct Step {
    Mode mode;
    int shift;  // log2 of the extent; -1: the extent is no power of two
  };

  std::size_t axes_;
  int values_, repeats_, rank_;
  // Item offsets of each thread, value and pass: `axes_` consecutive numbers, one per axis.
  std::vector<std::int64_t> of_thread_, of_value_, of_repeat_;
  std::vector<std::int64_t> sizes_;      // number of items, by axis
  std::vector<std::vector<Step>> tile_;  // by axis
};

/// Calls use(thread, value, coordinate) for every thread and every `step`-th value of pass `repeat`. The coordinate
/// is empty if the value has no element.
template <class Use>
void for_each(const EvaluatedLayout& layout, int repeat, const Use& use, int step = 1) {
  Shape at;
  for (int thread = 0; thread < layout.threads(); ++thread)
    for (int value = 0; value < layout.values(); value += step) {
      layout.find(thread, value, repeat, at);
      use(thread, value, static_cast<const Shape&>(at));
    }
}
/// Calls use(thread, value, coordinate) for every pass, every thread and every `step`-th value. The coordinate is
/// empty if the value has no element.
template <class Use>
void for_each(const EvaluatedLayout& layout, const Use& use, int step = 1) {
  for (int repeat = 0; repeat < layout.repeats(); ++repeat) for_each(layout, repeat, use, step);
}

/// One memory instruction of a warp: for each of 32 lanes the coordinate of the first of its adjacent elements,
/// empty for an idle lane.
using WarpAccess = std::vector<Shape>;
using UseAccess = std::function<void(const WarpAccess&)>;
/// Calls use(access) for the first `limit` memory instructions that read or write every element once, with
/// vector() elements per lane. The first access of every warp comes before the second one of any warp. `use`
/// must not keep its argument, which is overwritten.
void for_each_access(const Context&, const UseAccess& use,
                     std::size_t limit = std::numeric_limits<std::size_t>::max());
/// Calls use(access) for the first `limit` memory instructions that write a reduction's results. Only the first
/// of the lanes that share a result has a coordinate.
void for_each_sum_access(const Context&, const UseAccess& use,
                         std::size_t limit = std::numeric_limits<std::size_t>::max());

/// Returns for each element of `shape`, in row-major order, the thread that has it; -1 if none or several do.
std::vector<int> owners(const Context&, const Shape& shape);

/// Returns whether a coordinate has the rank of `shape` and is below it in every dimension.
bool inside(const Shape& at, const Shape& shape);

using graph::coordinates;
/// Returns the row-major (last dimension fastest) index of a coordinate; the inverse of coordinates().
std::int64_t linear(const Shape& at, const Shape& shape);

/// Returns the coordinate in operand `side` (0: A, 1: B) of the factor in multiply-add (.., m, n, k) of a matmul:
/// (.., m, k) or (.., k, n).
Shape factor(const Shape& at, int side);

/// Returns a description for humans, such as "blocked layout of (16, 256) by 8 along dimension 1".
std::string print(const Context&);
/// Returns both layouts as text: "(128,(8,4),1):(8@0,(1@0,1024@0),_0) in ((8,32,16)):((1@1,8@1,1@0))".
std::string layouts(const Context&);

}  // namespace zellige::plan
