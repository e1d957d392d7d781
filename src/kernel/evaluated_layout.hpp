// A thread-value layout (context.hpp) as tables, for fast lookup of coordinates, and walks over all elements of one:
// by thread and value, or by warp-wide memory instruction.
#pragma once
#include <functional>
#include <limits>

#include "kernel/context.hpp"

namespace zellige::kernel {

/// A thread-value layout as tables, for fast lookup of the coordinate of (thread, value, pass).
class EvaluatedLayout {
 public:
  explicit EvaluatedLayout(const Context&);
  int threads() const { return static_cast<int>(of_thread_.size() / axes_); }
  int values() const { return values_; }
  int repeats() const { return repeats_; }
  /// Returns the coordinate in the tile of value number `value` of `thread` in pass `repeat`; an empty shape if none.
  Shape at(int thread, int value, int repeat = 0) const {
    Shape at;
    find(thread, value, repeat, at);
    return at;
  }
  /// Sets `at` to the coordinate that at(thread, value, repeat) returns, without allocating memory.
  void find(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, 0, 0); }
  /// In a reduction: sets `at` to the coordinate of the result to which the thread's value number `value` is added.
  /// Clears `at` if the thread has no such value.
  void find_sum(int thread, int value, int repeat, Shape& at) const { find(thread, value, repeat, at, 0, 1); }
  /// In a reduction: sets `at` to the coordinate of the result that has the thread's value number `value` of pass 0
  /// as a summand, even if this summand lies beyond the last one. Clears `at` if there is no such result.
  void find_line(int thread, int value, Shape& at) const { find(thread, value, 0, at, 1, 1); }
  /// In a reduction: returns whether value number `value` is the first summand of a result among the thread's values.
  bool starts_sum(int value) const { return of_value_[static_cast<std::size_t>(value) * axes_] == 0; }

 private:
  /// Sets `at` to the sum of the coordinates along the axes from `added` on; clears it if the value has no item along
  /// one of the axes from `checked` on.
  void find(int thread, int value, int repeat, Shape& at, std::size_t checked, std::size_t added) const;
  /// Adds the coordinate of `item` along the axis to the coordinate `at`.
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

/// Calls use(thread, value, at(thread, value, repeat)) for every thread and every `step`-th value of a pass.
template <class Use>
void for_each(const EvaluatedLayout& layout, int repeat, const Use& use, int step = 1) {
  Shape at;
  for (int thread = 0; thread < layout.threads(); ++thread)
    for (int value = 0; value < layout.values(); value += step) {
      layout.find(thread, value, repeat, at);
      use(thread, value, static_cast<const Shape&>(at));
    }
}
/// The same for every pass.
template <class Use>
void for_each(const EvaluatedLayout& layout, const Use& use, int step = 1) {
  for (int repeat = 0; repeat < layout.repeats(); ++repeat) for_each(layout, repeat, use, step);
}

/// The coordinates that warps visit: all elements (items); each result of a reduction, by the first lane that shares
/// it (sums); or each row once, by all of its lanes, before the loop along the row (lines).
enum class Visits : std::uint8_t { items, sums, lines };
/// One memory instruction of a warp: for each of 32 lanes the coordinate of the first of its adjacent elements,
/// empty for an idle lane.
using WarpAccess = std::vector<Shape>;
using UseAccess = std::function<void(int warp, const WarpAccess&)>;
/// Calls use(warp, access) for each warp-wide memory instruction by which the threads access what they visit in the layout
/// once, of items vector() per lane. Stops after `limit` calls. The first access of every warp comes before the second one
/// of any warp. `use` must not keep a reference to the access, which is overwritten.
void for_each_access(const Context&, const UseAccess& use, std::size_t limit = std::numeric_limits<std::size_t>::max(),
                     Visits = Visits::items);

/// Returns, for each element of `shape` in row-major order, the thread that has it in the layout; -1: none or several.
std::vector<int> owners(const Context&, const Shape& shape);

}  // namespace zellige::kernel
