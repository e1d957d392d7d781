// Finds output slices: stores that only the blocks of some tiles along a dimension execute. For example,
// the QKV matmul stores Q, K and V from different columns. Other blocks need not write their result to
// shared memory for such a store.
//
//   // Q is heads 0 to 31 of 48, K heads 32 to 39, both stored from one value:
//   slices(plan, store of K)                        // tiles [32, 40)
//   slices(plan, copy of the value to shared)       // tiles [0, 40), if V is stored otherwise
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The tiles [from, to), of `tiles` in all, along dimension `dim` of a value. `tile` describes how a block
/// computes the number of its tile.
struct Slice {
  int dim = 0;
  Split tile;
  std::int64_t from = 0, to = 0, tiles = 0;
  bool operator==(const Slice&) const = default;
};

/// Returns the slices of a store, one per dimension along which the store does not have all tiles. Requires
/// that it starts at a tile boundary; it may end within a tile. Otherwise the dimension has no slice.
std::vector<Slice> slices(const BlockProgram&, const Node& store);
/// Returns which blocks' tiles of a task's result are used; a task is the work of a step. For a task that
/// writes a tile to shared memory, these are the tiles of all stores from it, if they form one slice.
/// Returns an empty list if all are used, and for other tasks.
std::vector<Slice> slices(const KernelPlan&, const Task&);

/// Returns the (store node, buffer) of a store through shared memory whose buffer the store node `another`
/// can use as well; {-1, -1} if there is none. `stores` are (task, buffer) pairs. The buffer can be shared
/// if both store the same value with the same layout and instruction, or if no block executes both. `inner`
/// is the contiguous dimension of `another`.
std::pair<int, int> shared_way_out(const KernelPlan&, const std::vector<std::pair<int, int>>& stores,
                                   int another, int inner);

/// Returns the number of blocks' tiles that are in all of the slices, and the number of all tiles.
std::pair<std::int64_t, std::int64_t> tiles_in(const std::vector<Slice>&);

}  // namespace zellige::plan
