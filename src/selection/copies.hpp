// Chooses how tiles are copied between global and shared memory: the instruction (cp.async, or a load and a store),
// the access width, and which thread copies which elements; and which tiles are not copied, because the threads that use
// them read them directly from global memory.
#pragma once
#include <optional>

#include "selection/select.hpp"
#include "selection/task.hpp"

namespace zellige::selection {

/// Number of loads per thread in flight together when tiles are copied through registers.
constexpr int loads_at_a_time = 8;

/// Returns the widest cp.async that can copy the tile of a load or store such that all accesses, which are along the
/// tensor's contiguous dimension, are aligned in the tensor. If no cp.async of the target can, returns the widest
/// ordinary access that is aligned and divides the tile's rows.
kernel::CopyChoice widest_copy(const tile::TilePrograms&, const tile::Node&, const target::Target&);

/// Returns a copy that moves one element per access, for a tile and a tensor with different contiguous dimensions.
kernel::CopyChoice single_copy(graph::DType, const target::Target&);

/// Returns a copy by unaligned 16-byte loads through registers (load_anywhere), to replace a copy of one element per
/// access where rows are unaligned. Returns the given copy unchanged if it is wider or asynchronous, if rows are
/// shorter than 16 bytes or not contiguous, or if elements have more than 2 bytes.
kernel::CopyChoice anywhere(const kernel::CopyChoice&, const tile::TilePrograms&, const tile::Node&,
                            const target::Target&);

/// Returns the blocked layout in which threads copy a load's tile of shape `padded`. Adjacent threads make adjacent
/// accesses: along `inner` first, then along the other dimensions in the order of the tensor's strides, smallest first.
kernel::Context copy_context(const graph::KernelTensor&, const graph::Shape& padded, int inner,
                             const kernel::CopyChoice&, int threads);

/// Returns whether the store node `store` writes accumulators from registers directly to global memory, not through
/// shared memory. This is done for matmuls of 32-bit operands, and for float32 results of two chained wgmma matmuls, if the
/// accumulators are contiguous along `gmem_inner`, the tensor's contiguous dimension. The stores then fill complete
/// 32-byte sectors.
bool leaves_at_once(const Selection&, const tile::Node& store, const kernel::Context& accumulators, int gmem_inner);

/// Returns the shape in shared memory of the tile of node `node`: the tile's extents, rounded up to what the
/// instructions of the matmuls that read the tile access. The padding is filled with zeros.
graph::Shape operand_padding(const Selection&, int node);

/// How tiles are loaded that no tensor core reads. `as_fits`: through shared memory if that pays; `in_place`: always
/// directly from global memory, for kernels whose tiles would not fit shared memory; `by_producer`: as fits, and a producer loads by
/// TMA those that the loop's products read, as product_tiles_by_tma() allows.
enum class Loads : std::uint8_t { as_fits, in_place, by_producer };

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

/// Returns whether `lanes` lanes that together read a row of `chunks` chunks of `bytes` bytes access neither two memory
/// sectors at a time nor all of the row.
bool is_scattered(int lanes, std::int64_t chunks, int bytes);

/// Returns a layout in which each thread stays in one row of the tile while it steps along the row, so that values per row,
/// such as a norm's scale, are evaluated once, before that loop (kernel/evaluation.hpp). A tile of 16 rows of 256 elements,
/// for example, whose rows run along dimension 1, is divided by 128 threads into 8 threads per row; each takes 4 of the row's
/// 32 chunks of 8 elements. The layout distributes a tile of shape `domain` over the threads, row by row, in chunks of
/// `vector` elements along dimension `inner`. An element has `bytes` bytes. Returns nullopt in these cases:
///
/// - the tile is one row;
/// - the length of a row is not a multiple of `vector`;
/// - no power of two is possible as the number of threads per row: it must divide `threads`, and the threads
///   of a row must not be scattered, as is_scattered() says;
/// - a thread would take more than 9/8 of the steps that it takes in the ordinary blocked layout.
std::optional<kernel::Context> row_blocked_layout(const graph::Shape& domain, int inner, int vector, int bytes,
                                                  int threads);

/// Returns the thread-value layout of a store's tile. This is the result of row_blocked_layout() if the
/// stored value is computed from values per row (such as a norm's scale) and that result is not nullopt;
/// otherwise it is the ordinary blocked layout. Rows run along dimension `inner`. `vector` is the desired
/// number of elements per access; it is halved until it divides the row's length.
kernel::Context store_blocked_layout(const tile::TileProgram&, const tile::Node& store, int inner, int vector);

}  // namespace zellige::selection
