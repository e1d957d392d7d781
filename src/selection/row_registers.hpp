// Decides whether the threads of a kernel hold the rows of its tiles in registers: each row in lanes of one warp, which
// reduce it with shuffles, or in several warps. Such a kernel loads each element once, from global memory into
// registers. Several warps exchange their results of a reduction through shared memory, with one barrier; otherwise there
// is no shared memory and no barrier. Softmax of 8 rows of 141 elements, by 128 threads:
//
//   layout  16 lanes a line of 141 in (8, 141), by 1
//   held    x              read by the maximum and by the exponential
//           exp(x - max)   read by the sum and by the quotient
#pragma once
#include <optional>
#include <set>

#include "kernel/kernel.hpp"

namespace zellige::selection {

inline constexpr std::int64_t max_row_values = 32;  // elements of its rows that a thread holds at a time

/// The rows of a kernel's tiles in registers.
struct RowRegisters {
  kernel::Context layout;  // the thread-value layout of all tiles; a row is in lanes of one warp, or in several warps
  // Loads and maps that are evaluated once, into registers: because several tasks read them, or, of a load, because its
  // reader would wait for a reduction before it loads.
  std::set<int> row_values;
};

/// Returns the layout of the rows, and the values to hold in registers, or nullopt if the kernel's rows do not go
/// through registers. They do if all of this is true:
///
/// - the kernel has no loop, and consists of loads, maps, stores, and at least one reduction;
/// - all reductions reduce the rows (the last dimension) of tiles of the same shape, and all stores store such tiles or
///   one value per row;
/// - rows are contiguous in global memory and not partial, and no tensor is both read and written;
/// - row_summation() finds a layout;
/// - a row is in one warp, or some value is held, and one of this is true: all blocks are resident at a time and all their
///   loads are in flight together; rows are not aligned to 16 bytes; what is read several times exceeds half of a block's
///   shared memory. Other rows of several warps are copied into shared memory by 16 bytes.
std::optional<RowRegisters> rows_in_registers(const kernel::Kernel&, const tile::TilePrograms&, const target::Target&);

/// Returns the distribution of rows of a tile `domain` over `threads` threads that takes the fewest instructions, or
/// nullopt if each distribution has a disadvantage:
///
/// - a thread has more than 32 elements (max_row_values);
/// - the lanes of a row are scattered, as is_scattered() says;
/// - a thread has more than 8 elements, and more than 3/2 of those that it has if all threads have equally many.
///
/// The lanes of a row are 2, 4, .. or 32 lanes of one warp, or all lanes of 2, 4, .. warps. `vector` is the greatest number of adjacent elements per
/// access, a power of two; `bytes` the size of an element, and `reductions` the number of reductions of each row.
std::optional<kernel::Summation> row_summation(const graph::Shape& domain, int vector, int bytes, int reductions,
                                               int threads);

}  // namespace zellige::selection
