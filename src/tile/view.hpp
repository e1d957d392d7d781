// The view of a load, store or mask: where each block's tile lies in a tensor in global memory, in every iteration.
//
//   // 32 blocks along x, of which x / 4 numbers the tiles; 6 iterations; tiles of 64 columns
//   const Interval columns = n.view.along(1, p);
//   columns.map()                     // (block, iteration, column in the tile) -> column: ((4,8),6,64):((0,384),64,1)
//   columns.start(block, iteration)   // the tile's first column: start(9, 2) is 2 * 384 + 2 * 64
//   n.view.end(1), n.view.predicated(1)  // the end of the tensor, and whether an access has to compare with it
//
// The lowering cuts tensors. Everyone else asks a View or an Interval, and names no Cut (tests/docs/cuts.py).
#pragma once
#include <numeric>
#include <optional>
#include <vector>
#include <zellige/layout/algebra/value.hpp>

#include "graph/graph.hpp"
#include "tile/number.hpp"

namespace zellige::tile {

struct TileProgram;
using graph::Shape;

/// Returns a / b rounded up: the number of tiles of size b that cover a.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How one dimension of a tensor is cut into tiles over the grid and the loop.
///
/// This block's tile starts at offset + (block * (loop ? range : 1) + (loop ? iteration : 0)) * tile, where
/// block = (blockIdx[axis] / div) % mod and range is the number of iterations.
struct Cut {
  int axis = -1;              // grid axis 0, 1 or 2; -1: every block starts at 0
  int size = -1;              // `extent` is the largest value of this one of TilePrograms::sizes; -1: a constant
  std::int64_t multiple = 1;  // of the size: divides all its values
  bool all_tiles =
      false;  // the size decides where the tensor ends, and blocks and iterations are those of the largest value
  std::int64_t div = 1, mod = 0;  // mod 0: no modulo
  bool loop = false;
  std::int64_t tile = 1;    // extent of the tile
  std::int64_t extent = 1;  // of the tensor, counted from `offset`; beyond it nothing is read or written
  std::int64_t offset = 0;
  int begin = -1;               // `offset` is the largest value of this one of TilePrograms::sizes; -1: a constant
  std::int64_t begin_unit = 1;  // of that size: divides all its values
  std::int64_t room = 0;        // elements beyond the extent that are padding of a line, which a store may change
  bool overhang = false;        // the last tile may be partial
  bool of_part = false;         // `offset` is relative to the program's part_begin
  auto operator<=>(const Cut&) const = default;
};

/// Returns number / below % extent, one digit of a mixed-radix number; emit::Index has the same function.
constexpr std::int64_t digit(std::int64_t number, std::int64_t below, std::int64_t extent, bool top) {
  return top ? number / below : number / below % extent;
}

/// The coordinates along one dimension of a tensor that the tiles of a kernel's blocks have. A digit of a block's index
/// along the grid axis `axis()` numbers the tiles: run() consecutive blocks have the same one of the tiles().
class Interval {
 public:
  Interval() = default;
  Interval(const Cut&, const TileProgram&);
  auto operator<=>(const Interval&) const = default;

  /// Returns the layout (block along the axis, iteration, coordinate in the tile) -> coordinate less origin(). The number of
  /// tiles in it, or of iterations, is dynamic if a size of the program decides it: the largest one, or `tiles`.
  Value map() const { return map(counted() && axis() >= 0 ? dynamic(tiles()) : fixed(tiles())); }
  Value map(Num tiles) const;
  std::int64_t tiles() const;                    // in an iteration; the most
  std::int64_t run() const { return cut_.div; }  // consecutive blocks with the same tile
  /// Returns the number of the tile of the block whose index along the axis is `block`.
  template <class Number>
  Number tile(const Number& block) const {
    return axis() < 0 ? Number(0) : digit(block, run(), tiles(), top());
  }
  /// Returns whether each block's tile has the same number here and in `other`.
  bool numbered_as(const Interval& other) const {
    return axis() == other.axis() && run() == other.run() && tiles() == other.tiles() && top() == other.top();
  }
  /// Returns the first coordinate less origin() of tile number `tile` in an iteration: map() of its first element.
  template <class Number>
  Number first(const Number& tile, const Number& iteration) const {
    return (cut_.loop ? tile * iterations_ + iteration : tile) * cut_.tile;
  }
  /// Returns the first coordinate of the tile that the block with this index along the axis has in an iteration.
  std::int64_t start(std::int64_t block, std::int64_t iteration) const {
    return origin() + first(tile(block), iteration);
  }
  /// Returns one more than the largest coordinate of a tile.
  std::int64_t reach() const { return origin() + first(tiles() - 1, iterations_ - 1) + cut_.tile; }
  /// Returns the number of coordinates of the tensor that the different tiles of an iteration have.
  std::int64_t inside(std::int64_t iteration) const;
  int axis() const { return cut_.axis; }               // the grid axis that divides the dimension; -1: none
  std::int64_t origin() const { return cut_.offset; }  // below 0: nothing is written before the tensor
  std::int64_t end() const { return cut_.offset + cut_.extent; }
  bool of_part() const { return cut_.of_part; }  // origin() and end() contain the program's part_begin
  bool top() const;                              // the digit is the highest one: no modulo is needed

  // ---- Where a size decides the extent: the same for all its values. Elsewhere they are constants. ----
  int size() const { return cut_.size; }  // index in TilePrograms::sizes; -1: none
  /// Returns whether the size decides the number of tiles, too, or of iterations.
  bool counted() const { return cut_.size >= 0 && !cut_.all_tiles; }
  int begin() const { return cut_.begin; }  // index in TilePrograms::sizes of the size that origin() is; -1: none
  SymbolicNumber origin(const SizeList& sizes) const {
    return begin() < 0 ? SymbolicNumber(origin()) : SymbolicNumber::of(sizes, begin());
  }
  SymbolicNumber end(const SizeList& sizes) const {
    return (size() < 0 ? SymbolicNumber(cut_.extent) : SymbolicNumber::of(sizes, size())) + origin(sizes);
  }
  SymbolicNumber tiles(const SizeList& sizes) const {
    return counted() && axis() >= 0 ? ceil_div(SymbolicNumber::of(sizes, size()), cut_.tile) : SymbolicNumber(tiles());
  }
  /// Returns the number of iterations that have a tile of the tensor, of a dimension that the loop divides and no axis.
  SymbolicNumber iterations(const SizeList& sizes) const {
    return counted() ? ceil_div(SymbolicNumber::of(sizes, size()), cut_.tile) : SymbolicNumber(iterations_);
  }
  SymbolicNumber reach(const SizeList&) const;

 private:
  Cut cut_;
  std::int64_t blocks_ = 1, iterations_ = 1;  // extents of the grid axis and of the loop
};

/// Where the tiles of a load, store or mask lie, by dimension.
class TileView {
 public:
  std::vector<Cut> cuts;
  bool operator==(const TileView&) const = default;

  /// Returns the view of a tensor of shape `extent` in tiles of shape `tile`. Grid axis 0 numbers the tiles of a
  /// kernel's result: steps[d] along dimension d, along the last one fastest. If the tensor has extent 1 in a dimension
  /// in which the result is larger (broadcast), all blocks along it have the same tile.
  static TileView over_grid(const Shape& extent, const Shape& tile, const Shape& steps);
  /// Moves all tiles by `by` coordinates, and with them the tensor's end.
  void move(const Shape& by);

  bool empty() const { return cuts.empty(); }
  int rank() const { return static_cast<int>(cuts.size()); }
  Interval along(int dim, const TileProgram& p) const { return {at(dim), p}; }
  std::int64_t tile(int dim) const { return at(dim).tile; }      // extent of a tile
  std::int64_t origin(int dim) const { return at(dim).offset; }  // where the first tile begins
  std::int64_t end(int dim) const { return at(dim).offset + at(dim).extent; }
  /// Returns a number that divides all values of the size that decides the extent.
  std::int64_t multiple(int dim) const { return at(dim).multiple; }
  /// Returns a number that divides where the first tile begins, for all values of a size.
  std::int64_t origin_unit(int dim) const { return at(dim).begin < 0 ? at(dim).offset : at(dim).begin_unit; }
  /// Returns a number that divides end() for all values of a size.
  std::int64_t end_unit(int dim) const {
    const Cut& c = at(dim);
    if (c.size < 0 && c.begin < 0) return end(dim);
    return std::gcd(c.size < 0 ? c.extent : c.multiple, origin_unit(dim));
  }
  int axis(int dim) const { return at(dim).axis; }       // the grid axis that divides it; -1: none
  bool iterates(int dim) const { return at(dim).loop; }  // each iteration has another tile
  bool iterates() const;
  /// Returns whether nothing of the tensor lies beyond the loop's end: the tiles of further iterations would all be outside.
  bool ends_with_loop(const TileProgram&) const;
  bool fixed(int dim) const { return axis(dim) < 0 && !iterates(dim); }  // there is one tile
  /// Returns whether a tile may reach beyond the tensor, so that accesses need a bounds check.
  bool predicated(int dim) const { return at(dim).overhang; }
  bool predicated() const;
  /// Returns the number of elements beyond the tensor's end that a store may change, as they are padding of its lines.
  std::int64_t room(int dim) const { return at(dim).room; }
  void give_room(int dim, std::int64_t elements) { cuts[static_cast<std::size_t>(dim)].room = elements; }
  /// Returns whether the end, or that of the padding, may part `count` neighbours in a tile, of which the first is at a
  /// multiple of `count`.
  bool straddles_end(int dim, std::int64_t count) const {
    const Cut& c = at(dim);
    const std::int64_t end = c.size < 0 ? c.extent : c.multiple;
    return c.overhang && ceil_div(end, count) * count > end + c.room;
  }
  /// Returns the largest number that divides every tile's first coordinate; 0 if all of these are 0.
  std::int64_t alignment(int dim) const;
  /// Returns the number of different tiles that the blocks have in an iteration.
  std::int64_t tiles(const TileProgram&) const;
  /// Returns the number of elements of the tensor in the tiles of all blocks in an iteration.
  std::uint64_t inside(const TileProgram&, std::int64_t iteration) const;

 private:
  const Cut& at(int dim) const { return cuts[static_cast<std::size_t>(dim)]; }
};

/// Where the tiles lie along one dimension of a tensor, as the textual form (src/ir) shows it.
struct Dimension {
  int axis = -1;          // the grid axis that divides it; -1: none
  bool iterates = false;  // each iteration has another tile
  Value map;              // (block along the axis, iteration, coordinate in the tile) -> coordinate less `begin`
  std::int64_t begin = 0, end = 1;
  int begin_size = -1;          // that `begin` is, which is the largest; -1: none
  std::int64_t begin_unit = 1;  // divides all its values
  int size = -1;                // that decides `end` less `begin`, which is the largest; -1: none
  std::int64_t multiple = 1;    // of the size
  bool all_tiles = false;       // of the largest value of the size
  bool predicated = false;      // a tile may reach beyond `end`
  bool of_part = false;         // `begin` and `end` contain the program's part_begin
  std::int64_t room = 0;        // elements beyond `end` that a store may change, as they are padding
};

/// Returns the dimensions of a view of the program.
std::vector<Dimension> dimensions(const TileView&, const TileProgram&);
/// Adds the dimension to the view, as its last one. Returns std::nullopt if its layout is that of the view now in it;
/// otherwise the layout that the nearest cut has, for a message.
std::optional<Value> add(TileView&, const Dimension&, const TileProgram&);

}  // namespace zellige::tile
