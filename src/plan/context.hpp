// Contexts: who evaluates which elements of a tile, as two layouts of the layout library, one behind the other.
//
//   share  (threads, values, turns) -> item     who takes which item
//   tile   item -> coordinate                   where it lies
//
// Strides are multiples of basis elements: 8@0 is eight further along the first axis of the items, 1@1 one further along the
// tile's dimension 1. 128 threads that take a tile of (16, 256) in chunks of 8, a chunk each and then the next 128:
//
//   share  (128,(8,4),1):(8@0,(1@0,1024@0),_0)   tile  ((8,32,16)):((1@1,8@1,1@0))
//   Held held(context);
//   held.at(33, 9)                              // item 8 * 33 + 1 + 1024: (5, 9), the tenth value of thread 33
//
// There are two because shares need not divide rows: 100 threads over rows of 32 chunks are one share and one tile, and no single
// layout. Axis 0 is the one along which a thread's neighbours lie; where a context is summed, it is the summed one, and the others
// say which sum. An item past the tile's size is nobody's. A coordinate past the domain is held, and is past the tile: whoever
// evaluates there guards or clamps. Turns come one after another: each takes its registers anew.
#pragma once
#include <functional>
#include <limits>
#include <zellige/atom/instruction.hpp>
#include <zellige/layout/algebra/value.hpp>

#include "plan/program.hpp"

namespace zellige::plan {

/// A leaf of one of a context's layouts.
struct Mode {
  std::int64_t extent, stride;
  int basis;  // which axis, or dimension, it moves along
  bool operator==(const Mode&) const = default;
};

struct Context {
  Shape domain;
  Value share, tile;
  const Instruction* row = nullptr;  // leaves its values so; one for all that leave them alike
  const Instruction* of = nullptr;   // of rows: whose accumulators' they are

  // What the layouts say.
  int rank() const { return static_cast<int>(domain.size()); }
  int inner() const;            // the dimension along which neighbouring values lie
  int vector() const;           // how many of them do, from a multiple of it on
  int threads() const;          // that take a share: the first of the block
  std::int64_t values() const;  // of a thread in a turn
  int turns() const;
  int axes() const { return tile.rank(); }
  /// Items along an axis, whether they lie in the domain or past it.
  std::int64_t items(int axis) const;
  /// How many items of an axis a thread takes one after another; along axis 0 so many vectors.
  std::int64_t steps(int axis) const;
  /// Threads that take the same items.
  int holders() const;
  /// Whether all of these hold the whole value; the holders of a product's accumulators have a part of each sum.
  bool replicated() const { return !row && holders() > 1; }
  /// Neighbours in a warp, and groups of such, that share the items of axis 0 which have the same other coordinates.
  int lanes() const;
  /// From one of these, or of the holders, to the next; and the first of those that a thread is one of.
  int lane_step() const;
  int first_lane(int thread) const { return thread - thread / lane_step() % lanes() * lane_step(); }
  int parts() const;
  bool operator==(const Context&) const;
};

/// The leaves of a layout, in order, and a layout of these.
std::vector<Mode> modes(values::View);
Value layout(const std::vector<Mode>&);

/// Chunks of `vector` elements of `domain`, dimensions in `order`, fastest first, in turn to each of so many threads. The last chunk
/// of a line may pass it.
Context sweep(const Shape& domain, const std::vector<int>& order, int vector, int threads);
/// The same along `inner` first, then along the other dimensions in row-major order (last fastest).
Context sweep(const Shape& domain, int inner, int vector, int threads);

/// What is summed: summand k of the sum at a coordinate of `sums` lies k * to further along `dim` of `domain`, which may have a
/// dimension more than the sums. `lanes` * `splits` threads share a sum, in vectors; so many groups of them take the sums in turn.
struct Summation {
  Shape domain, sums;
  int dim = 0;
  std::int64_t to = 1, length = 1;
  int vector = 1, lanes = 1, splits = 1, groups = 1;
};
Context summands(const Summation&);
/// The same sums with threads for each: in vectors where the summands lie `together`, a lane for a vector or more of them, and several
/// warps where whole ones are left.
Summation spread(Summation, bool together, std::int64_t threads);

constexpr int most_together = 8;  // elements that a thread evaluates one after another

/// A context, evaluated.
class Held {
 public:
  explicit Held(const Context&);
  int threads() const { return static_cast<int>(of_thread_.size() / axes_); }
  int values() const { return values_; }
  int turns() const { return turns_; }
  /// Empty where the value holds nothing.
  Shape at(int thread, int value, int turn = 0) const {
    Shape at;
    find(thread, value, turn, at);
    return at;
  }
  void find(int thread, int value, int turn, Shape& at) const { find(thread, value, turn, at, false); }
  /// Of which sum it is: the same with its place along axis 0 left out.
  void find_sum(int thread, int value, int turn, Shape& at) const { find(thread, value, turn, at, true); }
  /// The same for every thread that adds up the sum, whether or not its first summand is there.
  void find_line(int thread, int value, Shape& at) const;
  /// Whether a value is the first that a thread adds to its sum in a turn.
  bool starts_sum(int value) const { return of_value_[static_cast<std::size_t>(value) * axes_] == 0; }

 private:
  void find(int thread, int value, int turn, Shape& at, bool sum) const;
  void add_coordinates(std::size_t axis, std::int64_t item, Shape& at) const;

  /// A mode of the tile. Extents are mostly powers of two, and a shift is many times as fast as a division.
  struct Step {
    Mode mode;
    int shift;  // -1: its extent is no power of two
  };

  std::size_t axes_;
  int values_, turns_, rank_;
  std::vector<std::int64_t> of_thread_, of_value_, of_turn_;  // items, axis by axis
  std::vector<std::int64_t> sizes_;                           // of the axes
  std::vector<std::vector<Step>> tile_;                       // by axis
};

/// Calls use(thread, value, where it is) for every register of a turn; a coordinate is empty where it holds nothing.
template <class Use>
void for_each(const Held& held, int turn, const Use& use) {
  Shape at;
  for (int thread = 0; thread < held.threads(); ++thread)
    for (int value = 0; value < held.values(); ++value) {
      held.find(thread, value, turn, at);
      use(thread, value, static_cast<const Shape&>(at));
    }
}
/// Of every turn.
template <class Use>
void for_each(const Held& held, const Use& use) {
  for (int turn = 0; turn < held.turns(); ++turn) for_each(held, turn, use);
}

/// One instruction of one warp, which takes `vector` neighbours in each lane: where they start; empty: an idle lane.
using WarpAccess = std::vector<Shape>;
using UseAccess = std::function<void(const WarpAccess&)>;
/// Calls use for the first `limit` of them: all warps' first, then all warps' second. Its argument is written anew for each.
void for_each_access(const Context&, const UseAccess& use,
                     std::size_t limit = std::numeric_limits<std::size_t>::max());
/// The same of the sums: the first of each sum's lanes takes it.
void for_each_sum_access(const Context&, const UseAccess& use,
                         std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The thread that holds each element of `shape` (row-major), -1 where none or several do.
std::vector<int> owners(const Context&, const Shape& shape);

/// Whether an element is one of `shape`, and not past it.
bool inside(const Shape& at, const Shape& shape);

/// Of coordinates the linear index, last dimension fastest, and back.
using graph::coordinates;
std::int64_t linear(const Shape& at, const Shape& shape);

/// Of element (.., m, n, k) of an ordinary product its factor (.., m, k) or (.., k, n).
Shape factor(const Shape& at, int side);

/// In words.
std::string print(const Context&);
/// "(128,(8,4),1):(8@0,(1@0,1024@0),_0) in ((8,32,16)):((1@1,8@1,1@0))"
std::string layouts(const Context&);

}  // namespace zellige::plan
