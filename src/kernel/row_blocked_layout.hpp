// Builds thread-value layouts in which each thread stays in one row while it steps along the row. Values
// per row, such as a norm's scale, are then evaluated once, before that loop (kernel/evaluation.hpp).
//
//   // A tile of 16 rows of 256 elements; rows run along dimension `inner` = 1. The 128 threads are divided into
//   // 8 threads per row; each takes 4 of the row's 32 chunks of 8 elements:
//   row_blocked_layout(/*domain=*/{16, 256}, /*inner=*/1, /*vector=*/8, /*bytes=*/2, /*threads=*/128)
#pragma once
#include <optional>

#include "kernel/context.hpp"

namespace zellige::kernel {

/// Returns whether `lanes` lanes that together read a row of `chunks` chunks of `bytes` bytes access neither two memory
/// sectors at a time nor all of the row.
bool is_scattered(int lanes, std::int64_t chunks, int bytes);

/// Returns a layout that distributes a tile of shape `domain` over the threads, row by row, in chunks of
/// `vector` elements along dimension `inner`. An element has `bytes` bytes. Returns nullopt in these cases:
///
/// - the tile is one row;
/// - the length of a row is not a multiple of `vector`;
/// - no power of two is possible as the number of threads per row: it must divide `threads`, and the threads
///   of a row must not be scattered, as is_scattered() says;
/// - a thread would take more than 9/8 of the steps that it takes in the ordinary blocked layout.
std::optional<Context> row_blocked_layout(const Shape& domain, int inner, int vector, int bytes, int threads);

/// Returns the thread-value layout of a store's tile. This is the result of row_blocked_layout() if the
/// stored value is computed from values per row (such as a norm's scale) and that result is not nullopt;
/// otherwise it is the ordinary blocked layout. Rows run along dimension `inner`. `vector` is the desired
/// number of elements per access; it is halved until it divides the row's length.
Context store_blocked_layout(const tile::TileProgram&, const tile::Node& store, int inner, int vector);

}  // namespace zellige::kernel
