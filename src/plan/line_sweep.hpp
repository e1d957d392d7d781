// Contexts that take a tile line by line: a thread keeps to one line as long as it walks along it, so that what is one for each line
// is evaluated in front of that walk (plan/invariance.hpp).
//
//   line_sweep({16, 224}, 1, 8, 2, 128)   // 8 threads a line: ((8,1,16),(8,4,1),1):((8@0,64@0,1@1),...) in ((8,28),(1,16)):...
#pragma once
#include <optional>

#include "plan/context.hpp"

namespace zellige::plan {

/// `threads` threads take chunks of `vector` elements of `bytes` bytes each along `inner`. None where a tile is one line, where the
/// threads do not divide into lines, or where that takes clearly more steps than chunks dealt out regardless of lines.
std::optional<Context> line_sweep(const Shape& domain, int inner, int vector, int bytes, int threads);

/// How a store walks its tile: line by line where its value reads what is one for each line and that takes no more steps, else in
/// chunks dealt out in turn.
Context store_sweep(const BlockProgram&, const Node& store, int inner, int vector);

}  // namespace zellige::plan
