// Finds output slices: the range of a value's tiles that a store writes. For example, the QKV matmul stores
// Q, K and V from different columns, so only some blocks execute each store. The other blocks need not copy
// their tile to shared memory for that store.
//
//   // A value has one tile per head; Q is heads 0 to 31 of 48, K is heads 32 to 39, V is heads 40 to 47:
//   slices(plan, the store of K)                      // tiles [32, 40)
//   slices(plan, the copy to shared memory)           // tiles [0, 40), if only Q and K are stored from that copy
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// The tiles [from, to) along dimension `dim` of a value; the tiles of all blocks are numbered as those of `along`.
struct Slice {
  int dim = 0;
  tile::Interval along;
  std::int64_t from = 0, to = 0;
  /// Returns whether the two are ranges of the same tiles.
  bool of_same_tiles(const Slice& s) const { return dim == s.dim && along.numbered_as(s.along); }
  bool operator==(const Slice& s) const { return of_same_tiles(s) && from == s.from && to == s.to; }
};

/// Returns the slices that a store writes: one for each dimension along which it writes only some of the blocks' tiles,
/// unless the stored range begins within a tile. It may end within one.
std::vector<Slice> slices(const tile::TileProgram&, const tile::Node& store);
/// Returns which tiles of a work's result are needed. For work that stores a tile from shared to global memory, returns
/// the slices of the store. For work that copies a tile to shared memory for stores, returns one slice: the tiles of all these stores, if they form one range.
/// Returns an empty list if all tiles are needed, and for other work.
std::vector<Slice> slices(const Kernel&, const Work&);

/// Looks for a buffer in shared memory through which the store node `another` can store its tile as well, by the
/// instruction `row`. `stores` are the works that store through a buffer. Returns the first of them whose buffer is
/// suitable; nullptr if there is none. A buffer is suitable if
///
/// - its tile and the tile of `another` have the same shape, type, contiguous dimension (`inner`) and store
///   instruction;
/// - every store that uses the buffer stores the same value as `another`, or no block executes both stores.
const Work* shared_way_out(const Kernel&, const std::vector<Work>& stores, int another, const Instruction* row,
                           int inner);

/// Returns two numbers of tiles, counted along the dimensions of the slices: the tiles that every slice contains, and
/// all tiles. Each block computes one tile, so the quotient is the share of the blocks whose tile is in every slice.
std::pair<std::int64_t, std::int64_t> tiles_in(const std::vector<Slice>&);

}  // namespace zellige::kernel
