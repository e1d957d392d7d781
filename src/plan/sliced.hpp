// Slices of what blocks leave: a store that takes some of the blocks' tiles along a dimension. Other blocks store nothing there, and
// need not bring their value into shared memory for it.
//
//   queries take heads 0 to 31 of 48, keys 32 to 39, both the same value:      slices(plan, store of keys)      {{0, .., 32, 40, ..}}
//                                                                              slices(plan, its way to shared)  {{0, .., 0, 40, ..}}
#pragma once
#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Along a dimension of the value the tiles [from, to) of so many, which `tile` numbers by block.
struct Slice {
  int dim = 0;
  Split tile;
  std::int64_t from = 0, to = 0, tiles = 0;
  bool operator==(const Slice&) const = default;
};

/// What a store takes, along each dimension where it begins with a tile and has not all of them; it may end within one.
std::vector<Slice> slices(const BlockProgram&, const Node& store);
/// What becomes of a task's work: of a tile in shared memory all that is stored from there, if that is one slice. Of other tasks none.
std::vector<Slice> slices(const KernelPlan&, const Task&);

/// Of stores that leave through shared memory, (task, buffer) each, one through whose buffer another may leave as well: it sends the same
/// value the same way, or only from other blocks. {-1, -1}: there is none.
std::pair<int, int> shared_way_out(const KernelPlan&, const std::vector<std::pair<int, int>>& stores,
                                   int another, int inner);

/// Of how many blocks' tiles how many lie in all of them.
std::pair<std::int64_t, std::int64_t> tiles_in(const std::vector<Slice>&);

}  // namespace zellige::plan
