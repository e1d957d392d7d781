// Decides which tiles are read directly from global memory by the threads that use them, because a copy into shared
// memory would not improve the accesses or would not fit.
//
//   // load: a load node; reads: the tasks that read its tile
//   // too_big: whether the tile has no place in half of the shared memory of a block
//   // as_fits: copy the tile into shared memory where that pays (Loads::in_place: never)
//   const bool in_place = read_in_place(plan, selected, tasks, program, target, load, reads, Loads::as_fits, too_big);
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "selection/select.hpp"
#include "selection/task.hpp"

namespace zellige::selection {

/// How tiles that no tensor core reads are loaded. `as_fits`: through shared memory if that pays; `in_place`: always
/// directly from global memory, for kernels whose tiles would not fit shared memory.
enum class Loads : std::uint8_t { as_fits, in_place };

/// The tasks that read a loaded tile, by their indices. The flag says whether every thread reads the tile at exactly the coordinates
/// that it evaluates.
using LoadReads = std::vector<std::pair<int, bool>>;

/// Returns whether the tasks in `LoadReads` should read the tile of load node `load` directly from global memory. This
/// is always so if `Loads` is in_place. If it is as_fits, it is so where a copy into shared memory would not pay, and,
/// in a kernel without a loop, if `too_big` is true: the tile has no place in half of the shared memory of a block
/// together with the kernel's other loaded tiles, or with those that several tasks read.
bool read_in_place(const kernel::Kernel&, const Selection&, const Tasks&, const tile::TilePrograms&,
                   const target::Target&, int load, const LoadReads&, Loads, bool too_big);

/// Returns the copy by which the threads of `store`, a store node that only copies a loaded tile, load their elements
/// into registers. Its accesses have full width, are unaligned, and are all in flight together. Returns nullopt if the
/// kernel has a loop, if the stored value is not a load of the same shape that only `store` reads, if aligned accesses
/// of that width are possible, or if a thread would have more than 8 accesses in flight.
std::optional<kernel::CopyChoice> fetched(const kernel::Kernel&, const Tasks&, const tile::TilePrograms&,
                                          const target::Target&, int store);

}  // namespace zellige::selection
