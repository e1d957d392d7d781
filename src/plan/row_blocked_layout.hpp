// Thread-value layouts that take a tile row by row: a thread stays in one row along its loop, so that per-row
// values are evaluated before that loop (plan/invariance.hpp).
//
//   row_blocked_layout({16, 224}, 1, 8, 2, 128)   // 8 threads per row: ((8,1,16),(8,4,1),1):((8@0,64@0,1@1),...) in ((8,28),(1,16)):...
#pragma once
#include <optional>

#include "plan/context.hpp"

namespace zellige::plan {

/// Distributes chunks of `vector` elements of `bytes` bytes each along `inner` over `threads` threads.
/// Returns nullopt if a tile is one row, the threads do not divide evenly into rows, or this takes clearly
/// more steps than the ordinary blocked layout.
std::optional<Context> row_blocked_layout(const Shape& domain, int inner, int vector, int bytes, int threads);

/// The layout of a store's tile: row by row if its value reads per-row values and that takes no more steps,
/// else blocked.
Context store_blocked_layout(const BlockProgram&, const Node& store, int inner, int vector);

}  // namespace zellige::plan
