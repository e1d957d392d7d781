// Contexts (thread-value layouts): which thread evaluates which elements of a tile, as two composed layouts
// of the layout library.
//
//   share  (threads, values, turns) -> item     which thread takes which item
//   tile   item -> coordinate                   the item's coordinate in the tile
//
// Strides are multiples of basis elements: 8@0 moves eight items along axis 0 of the items, 1@1 one element
// along the tile's dimension 1. 128 threads that take a tile of (16, 256) in chunks of 8, one chunk each and
// then the next 128:
//
//   share  (128,(8,4),1):(8@0,(1@0,1024@0),_0)   tile  ((8,32,16)):((1@1,8@1,1@0))
//   EvaluatedLayout evaluated(context);
//   evaluated.at(33, 9)                         // item 8 * 33 + 1 + 1024: (5, 9), the tenth value of thread 33
//
// There are two because shares need not divide rows: 100 threads over rows of 32 chunks are one share and one
// tile, but no single layout. A thread's adjacent elements lie along axis 0. If the context is reduced, axis
// 0 is the reduced axis and the other axes number the results. An item beyond the tile's size has no element.
// A coordinate beyond the domain is evaluated all the same, out of bounds: the user guards or clamps it.
// Turns are sequential: each reuses the thread's registers.
#pragma once
#include <functional>
#include <limits>
#include <zellige/atom/instruction.hpp>
#include <zellige/layout/algebra/value.hpp>

#include "plan/program.hpp"

namespace zellige::plan {

/// One mode of a context's layouts.
struct Mode {
  std::int64_t extent, stride;
  int basis;  // the axis, or dimension, that it moves along
  bool operator==(const Mode&) const = default;
};

struct Context {
  Shape domain;
  Value share, tile;
  // The instruction with this layout of values; one represents all with the same layout.
  const Instruction* row = nullptr;
  const Instruction* of = nullptr;  // for rows of accumulators: the accumulators' instruction

  // Properties of the layouts.
  int rank() const { return static_cast<int>(domain.size()); }
  int inner() const;            // the dimension along which adjacent values lie
  int vector() const;           // number of adjacent values; aligned to a multiple of it
  int threads() const;          // that take a share: the first ones of the block
  std::int64_t values() const;  // per thread and turn
  int repeats() const;
  int axes() const { return tile.rank(); }
  /// Items along an axis, inside the domain or beyond it.
  std::int64_t items(int axis) const;
  /// Number of sequential items per thread along an axis; along axis 0 of vectors.
  std::int64_t steps(int axis) const;
  /// Number of threads that take the same items.
  int holders() const;
  /// Returns whether each of these holds the whole value; the holders of a matmul's accumulators have partial
  /// sums.
  bool replicated() const { return !row && holders() > 1; }
  /// Number of lanes in a warp (adjacent, or in adjacent groups) that share the axis-0 items of one result.
  int lanes() const;
  /// Distance between these lanes, or between holders; and the first of the lanes that a thread belongs to.
  int lane_step() const;
  int first_lane(int thread) const { return thread - thread / lane_step() % lanes() * lane_step(); }
  int parts() const;
  bool operator==(const Context&) const;
};

/// The modes of a layout, in order, and a layout made of modes.
std::vector<Mode> modes(values::View);
Value layout(const std::vector<Mode>&);

/// A blocked layout: chunks of `vector` elements of `domain`, dimensions in `order`, fastest first,
/// distributed over the threads round-robin. The last chunk of a row may extend beyond it.
Context blocked_layout(const Shape& domain, const std::vector<int>& order, int vector, int threads);
/// The same with `inner` fastest, then the other dimensions in row-major order (last fastest).
Context blocked_layout(const Shape& domain, int inner, int vector, int threads);

/// A reduction: summand k of the result at a coordinate of `sums` is k * to further along `dim` of `domain`,
/// which may have one more dimension than `sums`. `lanes` * `splits` threads share a result, in vectors;
/// `groups` such groups take the results round-robin.
struct Summation {
  Shape domain, sums;
  int dim = 0;
  std::int64_t to = 1, length = 1;
  int vector = 1, lanes = 1, splits = 1, groups = 1;
};
Context summands(const Summation&);
/// Distributes the reduction over threads: in vectors if the summands are `together` (contiguous), at least
/// one vector per lane, and over several warps if whole ones remain.
Summation spread(Summation, bool together, std::int64_t threads);

constexpr int max_elements_per_step = 8;  // elements that a thread evaluates in sequence

/// A context with its layouts evaluated.
class EvaluatedLayout {
 public:
  explicit EvaluatedLayout(const Context&);
  int threads() const { return static_cast<int>(of_thread_.size() / axes_); }
  int values() const { return values_; }
  int repeats() const { return repeats_; }
  /// Returns an empty shape if the value has no element.
  Shape at(int thread, int value, int repeat = 0) const {
    Shape at;
    find(thread, value, repeat, at);
    return at;
  }
  void find(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, false); }
  /// The coordinate of the result to which the value is added: the same without axis 0.
  void find_sum(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, true); }
  /// The same for every thread that takes part in the result, whether or not its first summand exists.
  void find_line(int thread, int value, Shape& at) const;
  /// Returns whether the value is the first that a thread adds to its result in a turn.
  bool starts_sum(int value) const { return of_value_[static_cast<std::size_t>(value) * axes_] == 0; }

 private:
  void find(int thread, int value, int repeat, Shape& at, bool sum) const;
  void add_coordinates(std::size_t axis, std::int64_t item, Shape& at) const;

  /// A mode of the tile. Extents are mostly powers of two, and a shift is much faster than a division.
  struct Step {
    Mode mode;
    int shift;  // -1: the extent is no power of two
  };

  std::size_t axes_;
  int values_, repeats_, rank_;
  std::vector<std::int64_t> of_thread_, of_value_, of_repeat_;  // items, by axis
  std::vector<std::int64_t> sizes_;                             // of the axes
  std::vector<std::vector<Step>> tile_;                         // by axis
};

/// Calls use(thread, value, coordinate) for every register of one repeat, or every `step`-th of a thread's; the coordinate
/// is empty if it has no element.
template <class Use>
void for_each(const EvaluatedLayout& layout, int repeat, const Use& use, int step = 1) {
  Shape at;
  for (int thread = 0; thread < layout.threads(); ++thread)
    for (int value = 0; value < layout.values(); value += step) {
      layout.find(thread, value, repeat, at);
      use(thread, value, static_cast<const Shape&>(at));
    }
}
/// The same for every turn.
template <class Use>
void for_each(const EvaluatedLayout& layout, const Use& use, int step = 1) {
  for (int repeat = 0; repeat < layout.repeats(); ++repeat) for_each(layout, repeat, use, step);
}

/// One instruction of a warp that takes `vector` adjacent elements in each lane: their first coordinates;
/// empty: an idle lane.
using WarpAccess = std::vector<Shape>;
using UseAccess = std::function<void(const WarpAccess&)>;
/// Calls use for the first `limit` accesses: the first of all warps, then the second of all warps. The
/// argument is overwritten each time.
void for_each_access(const Context&, const UseAccess& use,
                     std::size_t limit = std::numeric_limits<std::size_t>::max());
/// The same for the results of a reduction: the first of each result's lanes takes it.
void for_each_sum_access(const Context&, const UseAccess& use,
                         std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The thread that holds each element of `shape` (row-major); -1 if none or several do.
std::vector<int> owners(const Context&, const Shape& shape);

/// Returns whether a coordinate is within `shape`.
bool inside(const Shape& at, const Shape& shape);

/// The linear index of a coordinate, last dimension fastest, and its inverse.
using graph::coordinates;
std::int64_t linear(const Shape& at, const Shape& shape);

/// The element of operand `side` for element (.., m, n, k) of a matmul: (.., m, k) or (.., k, n).
Shape factor(const Shape& at, int side);

/// A description for humans.
std::string print(const Context&);
/// "(128,(8,4),1):(8@0,(1@0,1024@0),_0) in ((8,32,16)):((1@1,8@1,1@0))"
std::string layouts(const Context&);

}  // namespace zellige::plan
