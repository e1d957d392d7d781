// Builds thread-value layouts in which each thread stays in one row while it steps along the row. Values
// per row, such as a norm's scale, are then evaluated once, before that loop (plan/invariance.hpp).
//
//   row_blocked_layout({16, 224}, 1, 8, 2, 128)   // 8 threads per row: ((8,1,16),(8,4,1),1):((8@0,64@0,1@1),...) in ((8,28),(1,16)):...
#pragma once
#include <optional>

#include "plan/context.hpp"

namespace zellige::plan {

/// Returns a layout that distributes chunks of `vector` elements along dimension `inner` over the threads,
/// row by row; an element has `bytes` bytes. Returns nullopt in these cases:
///
/// - the tile is one row;
/// - rows are not a multiple of `vector`, or no power of two of threads per row divides the threads and
///   covers two memory sectors;
/// - a thread takes clearly more steps (9/8) than in the ordinary blocked layout.
std::optional<Context> row_blocked_layout(const Shape& domain, int inner, int vector, int bytes, int threads);

/// Returns the layout of a store's tile: row by row if its value reads values per row and
/// row_blocked_layout() finds one, else blocked. `vector` is the desired number of elements per access,
/// which is halved until it divides the row.
Context store_blocked_layout(const BlockProgram&, const Node& store, int inner, int vector);

}  // namespace zellige::plan
