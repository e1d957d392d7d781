// Groups steps whose works can share a loop nest, and lowers the work of a nest to a linear list of instructions (`Item`):
// reads with their widths, elementwise operators, branches, bounds checks and stores.
//
//   for (const StepSpan& nest : nests(plan, steps))
//     for (const Item& item : evaluate(plan, nest)) ...
//
// The nest is the loop in which each thread goes through its elements of that layout. The emitter prints the items
// (expression.cpp, evaluate_text.cpp) and the prediction of counters counts them (count_shared.cpp), so that both
// agree.
//
// A value is evaluated once for each coordinate at which it is needed. It is evaluated again within another bounds
// check or another branch of a concatenation. A value that is constant along the loop, such as the mean of the row
// along which the loop runs, is invariant: it is evaluated before the loop.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Adjacent steps of a list.
using StepSpan = std::span<const Step>;

/// Returns the steps that the emitter writes together: steps[first] and those that follow it. Either all of them are
/// loads from global memory or none is, and all run for the same iteration of a pipelined loop (equal guard_lag). They
/// end before the first step that does not fit these conditions, before a step without work, before a wgmma, and before
/// a step that initialises a loop state.
StepSpan side_by_side(const Kernel&, StepSpan, std::size_t first);

/// Returns whether the emitter writes a work as a loop over its thread-value layout, so that works with the same layout
/// can share the loop. False for example for matmuls and TMA stores.
bool in_nest(const Kernel&, const Work&);

/// Splits steps, in order, into loop nests: adjacent steps share a loop if their works have the same thread-value layout
/// and store the same output slices. A step for which in_nest() is false is alone.
std::vector<StepSpan> nests(const Kernel&, StepSpan);

/// A layout of the numbers x of neighbours that lie in pairs, or in runs of `run`: (run,n):(element,pair), plus `added`.
struct PairLayout {
  std::int64_t element = 1, pair = 2, added = 0, run = 2;
  auto operator<=>(const PairLayout&) const = default;
  std::int64_t operator()(std::int64_t x) const { return x % run * element + x / run * pair + added; }
};
constexpr PairLayout itself;                       // x
constexpr PairLayout number_of_pair{0, 1};         // x / 2
constexpr PairLayout neighbour_in_pair{-1, 2, 1};  // x ^ 1

/// A coordinate along one dimension of a tile, as a function of the loop nest's coordinate `at`: the layout of
/// min(at[from] + offset, last).
struct TileCoordinate {
  int from = -1;                       // a dimension of the nest; -1: none, and at[from] is 0
  std::int64_t offset = 0, last = -1;  // last -1: no limit
  PairLayout layout = {};
  auto operator<=>(const TileCoordinate&) const = default;
  /// Returns this coordinate's value when the loop nest is at coordinate `at`.
  std::int64_t of(const Shape& at) const {
    const std::int64_t here = (from < 0 ? 0 : at[static_cast<std::size_t>(from)]) + offset;
    return layout(last >= 0 && here > last ? last : here);
  }
  /// Returns the coordinate that is this one plus `by`.
  TileCoordinate moved(std::int64_t by) const {
    TileCoordinate c = *this;
    (last < 0 && layout == itself ? c.offset : c.layout.added) += by;
    return c;
  }
  /// Returns the coordinate whose layout is applied to numbers up to `bound`.
  TileCoordinate clamped(std::int64_t bound) const {
    if (from < 0) return {-1, std::min(offset, bound)};
    TileCoordinate c = *this;
    c.last = bound;
    return c;
  }
};

/// A bounds check of accumulators whose instructions extend beyond what the work writes: only items below `below`
/// along this axis (0: N, 1: M, 2: batch) are evaluated.
struct Guard {
  int axis;
  std::int64_t below;
  auto operator<=>(const Guard&) const = default;
};

/// Returns the shape of the tile that work `t` writes; its thread-value layout is that of accumulators. If the
/// tile is a matmul operand, the shape includes the tile's padding of zeros.
const Shape& written(const Kernel&, const Work& t);
/// Returns the bounds checks of a work whose thread-value layout is that of accumulators: one for each axis (N, M or
/// batch) along which the MMA instructions cover more elements than the work may write.
std::vector<Guard> guards(const Kernel&, const Work&);

/// A bounds check of a partial tile: only elements within the kernel-level tensor are evaluated.
struct Within {
  tile::Interval along;  // the dimension
  bool far = false;      // its coordinates need 64 bits
  TileCoordinate at;     // in the tile
  auto operator<=>(const Within&) const = default;
};

/// One operand of a concatenation, as a branch of an if-else chain: `at` is below `end`, or it is the last branch.
struct ConcatPart {
  int alone = -1;  // the vector element that the branch is for; -1: all of the vector
  TileCoordinate at;
  std::int64_t end = 0;
  bool first = false, last = false;
};

/// One instruction of a loop nest. Most yield a value of `vector` adjacent elements per thread. The words before a
/// colon in the field comments are the kinds that use the field.
struct Item {
  enum class Kind : std::uint8_t {
    read_shared,   // reads `pieces` of `buffer`
    read_global,   // reads `pieces` of the tile that the load `node` would copy
    in_registers,  // the thread's registers of `node`, or with `other` those in the other matrix of its pair
    in_lines,      // the thread's registers of `node` that hold one value per row of the accumulators
    // An elementwise function of the values `in`. A rotate has in = {x, cos, sin} for a vector of complete pairs,
    // otherwise in = {x, the other element of x's pair, cos, sin}. An unpack has in = {the bytes} of all of the vector,
    // or, with `pieces`, of each element.
    apply,
    choose,   // opens a concatenation, whose value is that of the branch taken
    part,     // opens a branch
    take,     // in = {the choose, the branch's value}; closes the branch
    guard,    // a condition on the items up to `guarded`
    guarded,  // closes the condition
    leave,    // hands the values `in` to `work`, which stores, adds or keeps them
  };
  Kind kind{};
  bool invariant = false;  // constant along axis 0: evaluated before the loop along that axis
  int node = -1, buffer = -1;
  const Work* work = nullptr;  // leave
  std::vector<int> in;         // operands: indices of earlier items
  bool other = false;          // in_registers
  int vector = 1;              // number of adjacent elements that the item yields
  int width = 1;               // maximum number of elements per memory access
  bool raw = false;            // read_shared, read_global: bytes that are not converted
  // Coordinates. read_shared: one per access; read_global: one per element; apply of a mask, rotate or unpack:
  // that of the first element.
  std::vector<std::vector<TileCoordinate>> pieces;
  ConcatPart part;                   // part, take
  std::vector<Guard> guards;         // guard, of accumulators
  std::vector<Within> within;        // guard, of partial tiles
  bool zeros_out_of_bounds = false;  // read_global: yields 0 out of bounds; no guard prevents the access
  // leave, to_shared: (dimension, extent) pairs; beyond the extent a zero is stored.
  std::vector<std::pair<int, std::int64_t>> zeros;
  std::int64_t edge = 0;  // leave, to_shared: end of what is stored along the inner dimension; 0: no limit
};

/// Returns the instructions of the loop nest that evaluates these steps, all of which have the same thread-value layout.
/// The nest of a matmul by scalar dot products has K as an additional last dimension.
std::vector<Item> evaluate(const Kernel&, StepSpan);

}  // namespace zellige::kernel
