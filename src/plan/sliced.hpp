// Output slices: stores of only some blocks' tiles along a dimension. Other blocks store nothing there, and
// need not write their value to shared memory for it.
//
//   queries take heads 0 to 31 of 48, keys 32 to 39, both of the same value:   slices(plan, store of keys)      {{0, .., 32, 40, ..}}
//                                                                              slices(plan, its copy to shared)  {{0, .., 0, 40, ..}}
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// The tiles [from, to) of `tiles` along a dimension of the value; `tile` is the number of a block's tile.
struct Slice {
  int dim = 0;
  Split tile;
  std::int64_t from = 0, to = 0, tiles = 0;
  bool operator==(const Slice&) const = default;
};

/// The slices of a store, one per dimension along which it starts at a tile boundary and has not all tiles;
/// it may end within a tile.
std::vector<Slice> slices(const BlockProgram&, const Node& store);
/// The slice of a task's result that is used: for a tile in shared memory everything stored from it, if that
/// is one slice. Empty for other tasks.
std::vector<Slice> slices(const KernelPlan&, const Task&);

/// Returns one of `stores`, (task, buffer) each, that go through shared memory, whose buffer store `another`
/// may use as well because it stores the same value in the same way, or only in other blocks. {-1, -1}: none.
std::pair<int, int> shared_way_out(const KernelPlan&, const std::vector<std::pair<int, int>>& stores,
                                   int another, int inner);

/// The number of blocks' tiles that are in all of the slices, and the number of all tiles.
std::pair<std::int64_t, std::int64_t> tiles_in(const std::vector<Slice>&);

}  // namespace zellige::plan
